// Tells whether something accepts connections at an address; the connection is closed at once.
import { connect } from 'node:net';

/** Resolves within `timeoutMs`, or at once with false when the signal fires. */
export function acceptsTcp(host: string, port: number, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({ host, port, timeout: timeoutMs });
    const end = (accepted: boolean) => () => {
      signal?.removeEventListener('abort', refuse);
      socket.destroy();
      resolve(accepted);
    };
    const refuse = end(false);
    signal?.addEventListener('abort', refuse);
    socket.once('connect', end(true)).once('error', refuse).once('timeout', refuse);
  });
}
