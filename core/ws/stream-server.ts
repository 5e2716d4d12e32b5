// Serves all WebSocket streams of the host: accepts upgrades, checks access, sends heartbeats and ends closed
// connections.
import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { WebSocket, WebSocketServer } from 'ws';
import type { Logger } from '../contract/log.ts';
import type { Disposer } from '../contract/plugin.ts';
import { Problem } from '../contract/problem.ts';
import type { AccessCheck, Identity } from '../contract/route.ts';
import type { Stream } from '../contract/stream.ts';
import { type AccessGate, accessOf } from '../http/access.ts';
import { type CorsPolicy, FOREIGN_SITE } from '../http/cors-policy.ts';
import { lastValues } from '../http/query.ts';
import { membersOf, refuseMisspelt, requireFunction, requireText } from '../kit/checked-argument.ts';
import { NameTaken } from '../kit/name-taken.ts';
import type { Call, Owner } from '../kit/owner.ts';
import { refuseSocket } from '../kit/refusal.ts';
import { Client, type ClientOptions, fitted } from './client.ts';
import { Places } from './places.ts';
import { UnsentBudget } from './unsent-budget.ts';

const MEMBERS = membersOf<Stream>({
  path: true,
  summary: true,
  capability: true,
  access: true,
  pong: true,
  open: true,
});

export interface StreamServerOptions {
  readonly log: Logger;
  readonly access: AccessGate;
  readonly origins: CorsPolicy;
  readonly pingMs?: number;
  /** The network of the client that sent the request, even through proxies. */
  network(request: IncomingMessage): string;
  stopping(): boolean;
}

interface OwnedStream {
  readonly owner: Owner;
  readonly stream: Stream;
  readonly pong: string | null;
  readonly places: Places;
}

interface Refusal {
  readonly code: number;
  readonly reason: string;
}

const MAX_MESSAGE_BYTES = 4096;
/** Each frame is compressed by itself, so that no memory is kept for a client. */
const COMPRESSION = {
  threshold: 64 * 1024,
  serverNoContextTakeover: true,
  clientNoContextTakeover: true,
  zlibDeflateOptions: { level: 1 },
};
/** Time that a stream may take to open or close for one client. */
const CALL_MS = 10_000;
/** The supported versions of the protocol, for the refusal of a wrong handshake. */
const SPOKEN = ['Sec-WebSocket-Version: 13, 8'];
const DEFAULT_PING_MS = 20_000;
const UNLOADED = 'No stream can be opened at present; try again in a moment';
const FULL: Refusal = { code: 1013, reason: 'Too many connections to this stream' };
const SHUTTING_DOWN: Refusal = { code: 1001, reason: 'The service is shutting down' };

export class StreamServer {
  readonly #options: StreamServerOptions;
  /** Undefined until the first client opens a stream, because loading the library would make every start longer. */
  #sockets: Promise<WebSocketServer> | undefined;
  readonly #streams = new Map<string, OwnedStream>();
  readonly #unsent = new UnsentBudget();
  readonly #heartbeat: NodeJS.Timeout;
  #watched: AccessCheck | undefined;
  #unwatch: Disposer | undefined;

  constructor(options: StreamServerOptions) {
    this.#options = options;
    this.#heartbeat = setInterval(() => this.#beat(), options.pingMs ?? DEFAULT_PING_MS);
    this.#heartbeat.unref();
  }

  add(owner: Owner, stream: Stream): () => void {
    requireText(stream.path, `the path of a stream of ${owner.plugin}`);
    refuseMisspelt(Object.keys(stream), MEMBERS, `the stream ${stream.path} of ${owner.plugin}`);
    if (stream.summary !== undefined)
      requireText(stream.summary, `the summary of the stream ${stream.path} of ${owner.plugin}`);
    requireFunction(stream.open, `what opens the stream ${stream.path} of ${owner.plugin}`);
    const other = this.#streams.get(stream.path);
    if (other !== undefined)
      throw new NameTaken(`stream ${stream.path} of ${owner.plugin}`, 'registered', other.owner.plugin);
    const { pong = 'pong' } = stream;
    // The host itself sends the pong, so a value that cannot be sent would be a fault of the host.
    if (pong !== null && typeof pong !== 'string')
      throw new Error(`the pong of the stream ${stream.path} of ${owner.plugin} is no text`);
    const owned: OwnedStream = { owner, stream, pong, places: new Places() };
    this.#streams.set(stream.path, owned);
    return () => {
      if (this.#streams.get(stream.path) === owned) this.#streams.delete(stream.path);
      for (const client of owned.places.clients()) client.close(1001, 'The stream was withdrawn');
    };
  }

  all(): Stream[] {
    return [...this.#streams.values()].map(owned => owned.stream);
  }

  /** Whether the path of this URL is that of a stream. */
  has(url: string): boolean {
    return this.#streams.has(target(url).path);
  }

  async accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const drop = () => socket.destroy();
    socket.on('error', drop);
    const { path, query } = target(request.url ?? '/');
    const owned = this.#streams.get(path);
    // During a stop, streams are withdrawn while the listener still answers; a 404 would say that they do not exist.
    if (owned === undefined && !this.#options.stopping()) {
      refuseSocket(socket, 404, 'Not found');
      return;
    }
    if (request.method !== 'GET') {
      refuseSocket(socket, 405, 'A stream is opened with GET', ['Allow: GET']);
      return;
    }
    if (this.#options.origins.isForeign(request)) {
      refuseSocket(socket, 403, FOREIGN_SITE);
      return;
    }
    const token = query.get('token');
    const authorization = token === null || token === '' ? undefined : `Bearer ${token}`;
    const peer = request.socket.remoteAddress;
    const network = this.#options.network(request);
    const decided = owned === undefined ? SHUTTING_DOWN : await this.#decide(owned, { authorization, peer, network });
    const sockets = await this.#openSockets();
    socket.off('error', drop);
    if (socket.destroyed) return;
    if (sockets === undefined) {
      refuseSocket(socket, 503, UNLOADED);
      return;
    }
    // Other clients may have taken the last places during the access check.
    const verdict = owned !== undefined && !('code' in decided) && !owned.places.isOpenTo(network) ? FULL : decided;
    sockets.handleUpgrade(request, socket, head, webSocket => {
      this.#options.log.debug(`WS ${path} ${'code' in verdict ? `refused with ${verdict.code}` : 'opened'}`);
      if ('code' in verdict) refuse(webSocket, verdict);
      else if (owned !== undefined)
        this.#open(owned, {
          socket: webSocket,
          connection: socket,
          query,
          authorization,
          peer,
          network,
          identity: verdict,
        });
    });
  }

  closeAll(code: number, reason: string): void {
    for (const client of this.#clients()) client.close(code, reason);
  }

  /** Waits for closing handshakes for `graceMs`, then cuts the remaining connections. */
  async end(graceMs: number): Promise<void> {
    clearInterval(this.#heartbeat);
    await this.#watch(undefined);
    const clients = (await this.#sockets?.catch(() => undefined))?.clients ?? new Set();
    const deadline = performance.now() + graceMs;
    while (clients.size > 0 && performance.now() < deadline) await delay(10);
    for (const client of clients) client.terminate();
  }

  /** undefined when that fails, as without a descriptor that is free. */
  async #openSockets(): Promise<WebSocketServer | undefined> {
    this.#sockets ??= openSockets();
    try {
      return await this.#sockets;
    } catch (error) {
      this.#sockets = undefined;
      this.#options.log.error('streams cannot be opened', error);
      return undefined;
    }
  }

  async #decide(
    owned: OwnedStream,
    request: Pick<Client, 'authorization' | 'peer' | 'network'>,
  ): Promise<Identity | Refusal> {
    if (this.#options.stopping()) return SHUTTING_DOWN;
    if (!owned.places.isOpenTo(request.network)) return FULL;
    try {
      await this.#watch(this.#options.access.service);
      return (await this.#options.access.admit(request, accessOf(owned.stream))).identity;
    } catch (error) {
      return this.#refusal(error);
    }
  }

  /** 1008 makes clients ask for new credentials, so it is used for invalid credentials only. */
  #refusal(error: unknown): Refusal {
    if (!(error instanceof Problem)) {
      this.#options.log.error('the access check failed', error);
      return { code: 1011, reason: 'Internal error' };
    }
    if (error.status !== 401) return { code: 1013, reason: 'Not available at present' };
    return { code: 1008, reason: /auth|token/i.test(error.message) ? error.message : 'Authentication required' };
  }

  #open(owned: OwnedStream, request: Omit<ClientOptions, 'pong' | 'onGone' | 'unsent' | 'runAs'>): void {
    const { stream, pong, places, owner } = owned;
    const leaving: Call = { place: 'stream', what: `a client that leaves ${stream.path}`, deadlineMs: CALL_MS };
    const client = new Client({
      ...request,
      pong,
      unsent: this.#unsent,
      runAs: fn => owner.invoke(leaving, fn),
      onGone: gone => places.remove(gone),
    });
    if (this.#streams.get(stream.path) !== owned) {
      client.close(1001, 'The stream was withdrawn');
      return;
    }
    places.add(client);
    void this.#serve(owned, client);
  }

  /** Opens the stream for a client. `invoke` counts and logs a failure; the client only learns that there was one. */
  async #serve({ owner, stream }: OwnedStream, client: Client): Promise<void> {
    const opening: Call = { place: 'stream', what: `opening ${stream.path}`, deadlineMs: CALL_MS };
    const closing: Call = { ...opening, what: `closing ${stream.path}` };
    const own = (dispose: unknown): void => {
      if (typeof dispose === 'function') client.own(() => owner.invoke(closing, dispose as Disposer));
      else if (dispose !== undefined)
        owner.fault('stream', new Error(`${opening.what} gives ${typeof dispose} instead of a function`));
    };
    try {
      // A disposer that comes after the deadline is kept too: the client is gone by then, so the disposer runs at once.
      await owner.invoke(opening, async () => own(await stream.open(client)));
    } catch {
      client.close(1011, 'Internal error');
    }
  }

  #clients(): Client[] {
    return [...this.#streams.values()].flatMap(({ places }) => places.clients());
  }

  #beat(): void {
    for (const client of this.#clients()) client.beat();
    const service = this.#options.access.service;
    if (service !== this.#watched) void this.#watch(service).then(() => this.#recheck());
  }

  /** Follows the access service, which changes when its plugin is reloaded. */
  async #watch(service: AccessCheck | undefined): Promise<void> {
    if (service === this.#watched) return;
    const unwatch = this.#unwatch;
    this.#watched = service;
    this.#unwatch = service?.onRevoked?.(() => void this.#recheck());
    await unwatch?.();
  }

  async #recheck(): Promise<void> {
    for (const owned of [...this.#streams.values()]) {
      if (accessOf(owned.stream) === 'public') continue;
      for (const client of owned.places.clients()) {
        try {
          await this.#options.access.admit(client, 'protected');
        } catch (error) {
          const { code, reason } = this.#refusal(error);
          client.close(code, reason);
        }
      }
    }
  }
}

function target(url: string): { path: string; query: URLSearchParams } {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  return { path: path.replace(/(?<=.)\/$/, ''), query: lastValues(mark < 0 ? '' : url.slice(mark + 1)) };
}

/** The connection is accepted first, because browsers show a close code only for accepted ones. */
function refuse(socket: WebSocket, { code, reason }: Refusal): void {
  socket.on('error', () => socket.terminate());
  socket.close(code, fitted(reason));
}

async function openSockets(): Promise<WebSocketServer> {
  const library = await import('ws').catch(requireLibrary);
  const sockets = new library.WebSocketServer({
    noServer: true,
    perMessageDeflate: COMPRESSION,
    maxPayload: MAX_MESSAGE_BYTES,
    // Other clients are served between two messages, even if one client sends thousands at once.
    allowSynchronousEvents: false,
  });
  sockets.on('wsClientError', (error, socket) => refuseSocket(socket, 400, error.message, SPOKEN));
  return sockets;
}

/** Node answers an import that has failed once with the same error ever after; what is required is read again. */
function requireLibrary(): typeof import('ws') {
  return createRequire(import.meta.url)('ws');
}
