// A receiver of HTTP requests on a real socket: it keeps them, and answers as it is told, well or badly.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { unknownCertificate } from './unknown-certificate.ts';

export interface Received {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Reply {
  /** Default: 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  /** Whether the body comes in several pieces. */
  readonly inPieces?: boolean;
}

export type Answers = Reply | ((request: Received) => Reply);

/** Faults of a receiver at the level of the socket. */
export type SocketFault = 'cut' | 'endless' | 'hang' | 'no HTTP' | 'reset';

export interface Receiver {
  /** The address without a path. */
  readonly base: string;
  readonly received: readonly Received[];
  close(): Promise<void>;
}

/** With `tls`, the receiver has a certificate that nobody trusts. */
export async function openReceiver(
  answers: Answers | SocketFault,
  { tls = false }: { readonly tls?: boolean } = {},
): Promise<Receiver> {
  const received: Received[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url: path = '', headers } = request;
    const taken: Received = { method, path, headers, body: await text(request) };
    received.push(taken);
    if (answers === 'hang') return;
    if (answers === 'reset') return void request.socket.resetAndDestroy();
    if (answers === 'cut') return void response.writeHead(200).write('{', () => request.socket.end());
    if (answers === 'no HTTP') return void request.socket.end('SSH-2.0-OpenSSH_9.6\r\n');
    if (answers === 'endless') return writeOn(response.writeHead(200));
    const reply = typeof answers === 'function' ? answers(taken) : answers;
    const { status = 200, headers: given = {}, body = '', inPieces = false } = reply;
    const whole = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, given);
    if (inPieces) for (const piece of whole.match(/.{1,7}/gs) ?? []) await written(response, piece);
    response.end(inPieces ? undefined : whole);
  };
  // One of the faults makes clients disconnect early.
  const listener = (request: IncomingMessage, response: ServerResponse) =>
    void handle(request, response).catch(() => response.destroy());
  const server = tls ? createTlsServer(unknownCertificate, listener) : createServer(listener);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    base: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    received,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function written(response: ServerResponse, piece: string): Promise<void> {
  return new Promise(resolve => response.write(piece, () => setImmediate(resolve)));
}

function writeOn(response: ServerResponse): void {
  const more = (): void => {
    if (!response.destroyed) response.write('x'.repeat(10_000), () => setImmediate(more));
  };
  more();
}
