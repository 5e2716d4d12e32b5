// Opens listening sockets with the same limits for all; closing one lets running requests finish before it cuts them.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Listener, ListenerOptions } from '../contract/route.ts';
import { reasonText } from '../kit/error-text.ts';
import { findPortHolder } from '../kit/port-holder.ts';
import { refuse, refuseSocket } from '../kit/refusal.ts';
import { isDecoded } from '../kit/transfer-coding.ts';
import type { Connections } from './connections.ts';
import { IncomingRequest } from './incoming-request.ts';
import { straighten } from './request-line.ts';
import { RequestTurns } from './request-turns.ts';

/**
 * Longer than proxies keep idle connections, so that a proxy never sends a request into a connection that is closing.
 */
const KEEP_ALIVE_MS = 80_000;
const MAX_HEADER_BYTES = 64 * 1024;
const HEADERS_MS = 60_000;
const REQUEST_MS = 300_000;
/** How often, within the time for one request, Node looks for requests that take too long. */
const LOOKS = 10;
/** How long a connection may be silent before TCP keep-alive probes it. */
const PROBE_AFTER_MS = 60_000;
const REQUEST_TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';
const RETRY_INTERVAL_MS = 250;
const EARLY_UPGRADE = 'An upgrade is taken when all earlier requests of its connection are answered; send it then';
const CODED = 'No other Transfer-Encoding than chunked is read here; send the body without it';

export interface ListenerParts {
  /** The connections of all listeners. */
  readonly connections: Connections;
  /** How long a request may take to arrive, unless its answer may be cut. Default 300 s. */
  readonly requestMs?: number | undefined;
}

/**
 * Rejects with an Error that has the system's `code` when listening fails, for a port in use until `retryMs` are over.
 */
export async function openListener(
  options: ListenerOptions,
  { connections, requestMs = REQUEST_MS }: ListenerParts,
): Promise<Listener> {
  const turns = new RequestTurns();
  class RequestInTurn extends IncomingRequest {
    protected override isConnectionBusy(): boolean {
      return turns.isTaken(this.socket);
    }
  }
  const server = createServer({
    IncomingMessage: RequestInTurn,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: Math.min(HEADERS_MS, requestMs),
    requestTimeout: requestMs,
    connectionsCheckingInterval: requestMs / LOOKS,
    keepAlive: true,
    keepAliveInitialDelay: PROBE_AFTER_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    // `straighten` checks the header, with an answer that says what is missing.
    requireHostHeader: false,
  });
  /** Connections that carry requests; an upgraded one belongs to the handler of `upgrade`. */
  const requestSockets = new Set<Socket>();
  let isClosing = false;
  server.on('connection', socket => {
    if (!connections.admit(socket)) {
      refuseSocket(socket, 503, 'There are too many connections; close some, or try again in a moment');
      return;
    }
    requestSockets.add(socket);
    socket.once('close', () => requestSockets.delete(socket));
  });
  server.on('request', (request, response) => {
    if (!connections.has(request.socket)) return;
    turns.take(request, response, () => {
      trackUse(connections, request, response);
      if (isClosing || request.isLast) response.setHeader('Connection', 'close');
      const fault = straighten(request) ?? (request.isEarlyUpgrade ? EARLY_UPGRADE : undefined);
      if (fault !== undefined) refuse(response, 400, fault);
      else if (!isDecoded(request.headers)) refuse(response, 501, CODED);
      else options.request(request, response);
    });
  });
  server.on('upgrade', (request, socket, head) => {
    if (!connections.has(request.socket)) return;
    requestSockets.delete(request.socket);
    connections.upgrade(request);
    socket.on('error', () => socket.destroy());
    // Of all the protocols that a client offers, it is the one that is taken.
    request.headers.upgrade = 'websocket';
    const fault = straighten(request) ?? (hasBody(request) ? 'A request for an upgrade has no body' : undefined);
    if (fault === undefined) options.upgrade(request, socket, head);
    else refuseSocket(socket, 400, fault);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // A request that is forwarded to a service may take any time, as long as bytes arrive.
    if (error.code === REQUEST_TIMEOUT && connections.isReceiving(socket as Socket)) return;
    turns.end(socket as Socket, () => answerClientError(error, socket));
  });
  // Node itself would answer an unknown expectation with an empty 417, before earlier requests are answered.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));

  await listenInTime(server, options);
  return {
    host: options.host,
    port: (server.address() as AddressInfo).port,
    async close(graceMs) {
      isClosing = true;
      // Tells clients to send no further request on these connections, where it would be lost.
      for (const response of turns.unanswered()) if (!response.headersSent) response.setHeader('Connection', 'close');
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

/** Listens; tries again for `retryMs` while the port is in use. */
async function listenInTime(server: Server, options: ListenerOptions): Promise<void> {
  let isTold = false;
  const giveUpAtMs = performance.now() + (options.retryMs ?? 0);
  for (;;) {
    try {
      server.listen({ host: options.host, port: options.port });
      await once(server, 'listening');
      // A connection could not be accepted because no descriptor is free, which descriptor-watch.ts logs.
      server.on('error', () => undefined);
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const remainingMs = giveUpAtMs - performance.now();
      if (code !== 'EADDRINUSE' || remainingMs <= 0 || options.cancelled?.())
        throw await createListenError(options, error);
      if (!isTold) options.taken?.(await findPortHolder(options.port));
      isTold = true;
      await delay(Math.min(RETRY_INTERVAL_MS, remainingMs));
    }
  }
}

async function createListenError({ host, port }: ListenerOptions, error: unknown): Promise<Error> {
  const { code } = error as NodeJS.ErrnoException;
  const reasons: Record<string, string> = {
    EADDRINUSE: 'the port is in use',
    EADDRNOTAVAIL: 'this machine does not have that address',
    ENOTFOUND: 'the host name is unknown',
    EACCES: 'the permission for this port is missing',
  };
  const by = code === 'EADDRINUSE' ? ` by ${await findPortHolder(port)}` : '';
  const reason = `${reasons[code ?? ''] ?? reasonText(error)}${by}`;
  return Object.assign(new Error(`Cannot listen on ${host}:${port}: ${reason}`), { code });
}

/**
 * A connection is in use from the complete arrival of a request until its answer has been sent; otherwise it is idle. A
 * body that no handler reads may end only after the answer, and then the connection is never in use.
 */
function trackUse(connections: Connections, request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  const begin = (): void => {
    if (response.closed) return;
    connections.use(request);
    response.once('close', () => connections.release(socket));
  };
  if (hasBody(request)) request.once('end', begin);
  else begin();
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** A client that sends no valid HTTP gets a readable answer before its connection is closed. */
function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (socket.writableEnded) return;
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === REQUEST_TIMEOUT ? 408 : 400;
  const detail = status === 431 ? 'The headers are larger than 64 KiB' : 'The request is not valid HTTP';
  refuseSocket(socket, status, status === 408 ? 'The request took too long to arrive' : detail);
}
