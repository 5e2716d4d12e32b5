// One listening socket with the limits every listener shares, and a close that lets requests end before it cuts them.

import { createServer, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Listener, ListenerOptions } from '../contract/route.ts';

/** Longer than any proxy keeps a connection, so that none is closed under a request. */
const KEEP_ALIVE_MS = 80_000;
const MAX_HEADER_BYTES = 64 * 1024;
const RETRY_EVERY_MS = 250;

export async function openListener(options: ListenerOptions): Promise<Listener> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, maxHeaderSize: MAX_HEADER_BYTES });
  const plain = new Set<Socket>();
  let closing = false;
  server.on('connection', socket => {
    plain.add(socket);
    socket.once('close', () => plain.delete(socket));
  });
  server.on('request', (request, response) => {
    if (closing) response.setHeader('Connection', 'close');
    options.request(request, response);
  });
  server.on('upgrade', (request, socket, head) => {
    plain.delete(socket as Socket);
    options.upgrade(request, socket, head);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => refuse(error, socket));

  const until = performance.now() + (options.retryMs ?? 0);
  for (;;) {
    try {
      await listen(server, options.host, options.port);
      break;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const left = until - performance.now();
      if (code !== 'EADDRINUSE' || left <= 0 || options.cancelled?.()) throw listenError(options, error);
      await delay(Math.min(RETRY_EVERY_MS, left));
    }
  }

  return {
    host: options.host,
    port: (server.address() as AddressInfo).port,
    async close(graceMs) {
      closing = true;
      server.close();
      const deadline = performance.now() + graceMs;
      while (plain.size > 0 && performance.now() < deadline) {
        server.closeIdleConnections();
        await delay(Math.min(20, graceMs));
      }
      const cut = [...plain].map(socket => {
        socket.destroy();
        return new Promise(resolve => socket.once('close', resolve));
      });
      await Promise.all(cut);
    },
  };
}

function listen(server: ReturnType<typeof createServer>, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      server.off('error', failed);
      server.off('listening', listening);
    };
    const failed = (error: Error): void => {
      settle();
      reject(error);
    };
    const listening = (): void => {
      settle();
      resolve();
    };
    server.once('error', failed);
    server.once('listening', listening);
    server.listen({ host, port });
  });
}

function listenError({ host, port }: ListenerOptions, error: unknown): Error {
  const { code } = error as NodeJS.ErrnoException;
  const reasons: Record<string, string> = {
    EADDRINUSE: 'the port is already in use',
    EADDRNOTAVAIL: 'this machine does not have that address',
    ENOTFOUND: 'the host name is unknown',
    EACCES: 'the permission for this port is missing',
  };
  const reason = reasons[code ?? ''] ?? (error as Error).message;
  return Object.assign(new Error(`Cannot listen on ${host}:${port}: ${reason}`, { cause: error }), { code });
}

/** What is no HTTP gets a readable answer before its connection ends. */
function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const detail = status === 431 ? 'The headers are larger than 64 KiB' : 'The request is not valid HTTP';
  socket.end(rawAnswer(status, status === 408 ? 'The request took too long to arrive' : detail));
}

/** A whole answer for a connection that has no response object. */
export function rawAnswer(status: number, detail: string): string {
  const body = JSON.stringify({ detail });
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
