// Writes the gateway's own refusals in the shape that all routes use: one readable line under `detail`.
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

export function refuse(response: ServerResponse, status: number, detail: string): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' });
  response.end(JSON.stringify({ detail }));
}

/** Writes a whole response to the socket, because an upgrade request has no response object. */
export function refuseUpgrade(socket: Duplex, status: number, detail: string): void {
  const body = JSON.stringify({ detail });
  socket.on('error', () => socket.destroy());
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
