// Opens listening sockets with the same limits for all; closing one lets running requests finish before it cuts them.

import { createServer, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Listener, ListenerOptions } from '../contract/route.ts';

/**
 * Longer than proxies keep idle connections, so that a proxy never sends a request into a connection that is closing.
 */
const KEEP_ALIVE_MS = 80_000;
const MAX_HEADER_BYTES = 64 * 1024;
const RETRY_INTERVAL_MS = 250;

/** Throws an Error with the system's `code` when the address cannot be listened on until `retryMs` have passed. */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, maxHeaderSize: MAX_HEADER_BYTES });
  /** Connections that carry requests; upgraded ones belong to whoever took them over. */
  const requestSockets = new Set<Socket>();
  let isClosing = false;
  server.on('connection', socket => {
    requestSockets.add(socket);
    socket.once('close', () => requestSockets.delete(socket));
  });
  server.on('request', (request, response) => {
    if (isClosing) response.setHeader('Connection', 'close');
    options.request(request, response);
  });
  server.on('upgrade', (request, socket, head) => {
    requestSockets.delete(socket as Socket);
    options.upgrade(request, socket, head);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => answerClientError(error, socket));

  const giveUpAtMs = performance.now() + (options.retryMs ?? 0);
  for (;;) {
    try {
      await listen(server, options.host, options.port);
      break;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const remainingMs = giveUpAtMs - performance.now();
      if (code !== 'EADDRINUSE' || remainingMs <= 0 || options.cancelled?.()) throw createListenError(options, error);
      await delay(Math.min(RETRY_INTERVAL_MS, remainingMs));
    }
  }

  return {
    host: options.host,
    port: (server.address() as AddressInfo).port,
    async close(graceMs) {
      isClosing = true;
      server.close();
      const deadline = performance.now() + graceMs;
      while (requestSockets.size > 0 && performance.now() < deadline) {
        server.closeIdleConnections();
        await delay(Math.min(20, graceMs));
      }
      const closed = [...requestSockets].map(socket => {
        socket.destroy();
        return new Promise(resolve => socket.once('close', resolve));
      });
      await Promise.all(closed);
    },
  };
}

function listen(server: ReturnType<typeof createServer>, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      server.off('error', onError);
      server.off('listening', onListening);
    };
    const onError = (error: Error): void => {
      settle();
      reject(error);
    };
    const onListening = (): void => {
      settle();
      resolve();
    };
    server.once('error', onError);
    server.once('listening', onListening);
    server.listen({ host, port });
  });
}

function createListenError({ host, port }: ListenerOptions, error: unknown): Error {
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

/** A client that sends no valid HTTP gets a readable answer before its connection is closed. */
function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const detail = status === 431 ? 'The headers are larger than 64 KiB' : 'The request is not valid HTTP';
  socket.end(rawAnswer(status, status === 408 ? 'The request took too long to arrive' : detail));
}

/** The bytes of a whole answer, for a connection that has no response object. */
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
