// Whether something on this machine listens on a port.
import { createServer } from 'node:net';
import PQueue from 'p-queue';

/** Binds to the same port would take each other for a listener. */
const binds = new PQueue({ concurrency: 1 });

/** A bind tells, on one family after the other; a family that the machine lacks is no hindrance. */
export function portInUse(port: number): Promise<boolean> {
  return binds.add(async () => {
    for (const host of ['127.0.0.1', '::1', '0.0.0.0']) if (await bindFails(port, host)) return true;
    return false;
  });
}

function bindFails(port: number, host: string): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'EADDRINUSE' || error.code === 'EACCES'),
    );
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(false)));
  });
}
