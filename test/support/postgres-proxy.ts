// Stands between a client and a server of PostgreSQL, and takes the server's place at a message: what the client then
// gets is a fault's.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';
import type { PostgresServer } from './transfer.ts';

/** Of each message of a server: its kind, and the length of what follows, itself included. */
const HEAD = 5;

export interface ServerFault {
  /** The kind of the server's message that is held back, as a sign of the protocol. */
  readonly at: string;
  /** Gets what the client would have got, with all that came with it. */
  readonly send: (client: Socket, held: Buffer) => unknown;
}

export type Access = PostgresServer['access'];

/** One message, whose length need not be that of what is in it. */
export function message(kind: string, content: string | Buffer, bytes = Buffer.byteLength(content)): Buffer {
  const head = Buffer.alloc(HEAD);
  head.write(kind);
  head.writeUInt32BE(bytes + HEAD - 1, 1);
  return Buffer.concat([head, Buffer.from(content)]);
}

/** Writes the same for as long as there is somebody who reads it. */
export async function sendForEver(client: Socket, bytes: Buffer): Promise<void> {
  while (!client.destroyed)
    if (!client.write(bytes)) await new Promise(resolve => client.once('drain', resolve).once('close', resolve));
}

/** Gives the place of the proxy, which closes with the test. From the fault on nothing of either side is passed on. */
export async function startProxy(t: Test, { host, port, ...access }: Access, fault: ServerFault): Promise<Access> {
  const sockets = new Set<Socket>();
  const server = createServer(client => {
    const upstream = connect(port, host);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    let rest = Buffer.alloc(0);
    const pass = (bytes: Buffer): void => {
      rest = Buffer.concat([rest, bytes]);
      for (let end = lengthOf(rest); end <= rest.length; end = lengthOf(rest)) {
        if (String.fromCharCode(rest[0] ?? 0) === fault.at) {
          upstream.off('data', pass);
          client.unpipe(upstream);
          client.pause();
          fault.send(client, rest);
          return;
        }
        client.write(rest.subarray(0, end));
        rest = rest.subarray(end);
      }
    };
    upstream.on('data', pass);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { ...access, host: '127.0.0.1', port: (server.address() as { port: number }).port };
}

function lengthOf(bytes: Buffer): number {
  return bytes.length < HEAD ? Number.POSITIVE_INFINITY : bytes.readUInt32BE(1) + 1;
}
