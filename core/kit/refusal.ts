// Sends refusals outside of the dispatch, in the shape that all routes use: one readable line under `detail`.
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** How long a client may take to close a connection after its refusal was sent. */
const CLOSE_MS = 1_000;

export function refuse(response: ServerResponse, status: number, detail: string): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' });
  response.end(JSON.stringify({ detail }));
}

/**
 * Writes a whole answer to a connection that has no response object, and closes it, whether or not the client closes
 * its side. `headers` are whole lines.
 */
export function refuseSocket(socket: Duplex, status: number, detail: string, headers: readonly string[] = []): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify({ detail });
  const timer = setTimeout(() => socket.destroy(), CLOSE_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.on('error', () => socket.destroy());
  socket.once('end', () => socket.destroy());
  // What the client still sends is read and dropped, because unread bytes would make it lose the answer.
  socket.resume();
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'Connection: close',
    ...headers,
    '',
    '',
  ].join('\r\n');
  // The characters of headers stand for their bytes, as Node reads them.
  socket.end(Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)]));
}
