// Tells whether something on this machine listens on a port, without connecting to it.
import { createServer } from 'node:net';
import { askAgain } from './ask-again.ts';
import { lacksDescriptors } from './descriptors.ts';
import { WorkQueue } from './work-queue.ts';

/** Checks run one at a time, because two checks of the same port would take each other for a listener. */
const checks = new WorkQueue({ concurrency: 1 });

const ANY_FAMILY = ['127.0.0.1', '::1', '0.0.0.0'];

/**
 * Binds the port on each of the addresses in turn. A family that the machine lacks does not count as in use. Throws an
 * Error when no descriptor is left for 10 s.
 */
export function portInUse(port: number, addresses: readonly string[] = ANY_FAMILY): Promise<boolean> {
  return checks.add(async () => {
    for (const host of addresses) if (await askAgain(() => isTaken(port, host))) return true;
    return false;
  });
}

function isTaken(port: number, host: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (lacksDescriptors(error)) reject(error);
      else resolve(error.code === 'EADDRINUSE' || error.code === 'EACCES');
    });
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(false)));
  });
}
