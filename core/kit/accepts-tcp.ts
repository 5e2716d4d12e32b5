// Tells whether something accepts connections at an address; the connection is closed at once.
import { connect } from 'node:net';
import { lacksDescriptors } from './descriptors.ts';

/**
 * Resolves within `timeoutMs`, or at once with false when the signal fires. Rejects when no descriptor is left, because
 * that tells nothing about the address.
 */
export function acceptsTcp(host: string, port: number, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: timeoutMs });
    const end = (accepted: boolean) => () => {
      signal?.removeEventListener('abort', refuse);
      socket.destroy();
      resolve(accepted);
    };
    const refuse = end(false);
    signal?.addEventListener('abort', refuse);
    socket.once('connect', end(true)).once('timeout', refuse);
    socket.once('error', error => {
      if (lacksDescriptors(error)) reject(error);
      refuse();
    });
  });
}
