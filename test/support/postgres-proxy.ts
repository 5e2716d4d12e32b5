// A proxy between a client and a PostgreSQL server. It holds back one message of the server and lets a fault answer
// instead.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';
import type { PostgresServer } from './transfer.ts';

/** Bytes before the content of a message: its kind, and a length that counts itself. */
const HEAD = 5;

export interface ServerFault {
  /** The kind of the server's message that is held back, a letter of the protocol. */
  readonly at: string;
  /** Called with the bytes that the client would have received, from this message on. */
  readonly send: (client: Socket, held: Buffer) => unknown;
}

export type Access = PostgresServer['access'];

/** One message; `bytes` is the length that it declares, which need not be true. */
export function message(kind: string, content: string | Buffer, bytes = Buffer.byteLength(content)): Buffer {
  const head = Buffer.alloc(HEAD);
  head.write(kind);
  head.writeUInt32BE(bytes + HEAD - 1, 1);
  return Buffer.concat([head, Buffer.from(content)]);
}

/** Writes the same bytes until the client disconnects. */
export async function sendForEver(client: Socket, bytes: Buffer): Promise<void> {
  while (!client.destroyed)
    if (!client.write(bytes)) await new Promise(resolve => client.once('drain', resolve).once('close', resolve));
}

/**
 * Gives the address of the proxy, which closes with the test. After the fault nothing is passed on in either direction.
 */
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
