// The only entrance for HTTP and WebSocket: every listener, native or gateway, serves the same routes through it.

import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';
import type { Logger } from '../contract/log.ts';
import type { HttpEntrance, HttpRequests, Listener, ListenerOptions, Route, Via } from '../contract/route.ts';
import type { Stream } from '../contract/stream.ts';
import { AccessGate } from '../http/access.ts';
import { Connections } from '../http/connections.ts';
import { CorsPolicy } from '../http/cors-policy.ts';
import { createDispatch } from '../http/dispatch.ts';
import { HostNames } from '../http/host-names.ts';
import { openListener } from '../http/listener.ts';
import { describeApi } from '../http/openapi.ts';
import { RefusedChanges } from '../http/refused-changes.ts';
import { RequestCounts } from '../http/request-counts.ts';
import { RouteMap } from '../http/route-map.ts';
import type { Owner } from '../kit/owner.ts';
import { refuse, refuseSocket } from '../kit/refusal.ts';
import { endWhenStalled } from '../kit/stalled-client.ts';
import { StreamServer } from '../ws/stream-server.ts';

export interface EntranceOptions {
  readonly log: Logger;
  readonly configDir: string;
  readonly version: string;
  /** The effective configuration, which is a new object after each change. */
  config(): Readonly<Record<string, unknown>>;
  /** The present implementation of a service, such as `access`. */
  service(name: string): unknown;
  stopping(): boolean;
  /** Whether an answer that does not fit its route's response schema becomes a 500, for tests. */
  readonly checkAnswers?: boolean;
  /** Milliseconds between two protocol pings of a stream. Default 20 s. */
  readonly pingMs?: number;
  /** How long a client may read nothing of its answer. Default 60 s. */
  readonly unreadMs?: number;
  /** How long a request may take to arrive. Default 300 s. */
  readonly requestMs?: number;
}

/** The members of the entrance that only the host uses. */
export interface HttpServer extends HttpEntrance {
  readonly requests: HttpRequests;
  /** Throws when the method and path are taken. The returned function withdraws the route. */
  addRoute(owner: Owner, route: Route): () => void;
  /** Throws when the path is taken. The returned function closes the stream's clients and withdraws it. */
  addStream(owner: Owner, stream: Stream): () => void;
  openapi(): Record<string, unknown>;
  /** Opens the native listener. */
  listen(
    options: Pick<ListenerOptions, 'host' | 'port' | 'retryMs' | 'taken'>,
  ): Promise<{ host: string; port: number }>;
  /** Closes idle connections, because file descriptors are running out. */
  closeIdleConnections(): void;
  /** Closes every client of every stream. */
  closeStreams(code: number, reason: string): void;
  /** Stops accepting connections, lets running requests finish for `graceMs`, then closes the remaining connections. */
  close(graceMs: number): Promise<void>;
}

const NATIVE: Via = { native: true };

/**
 * The API serves data, not pages: a browser may load nothing for an answer, and only pages of its origin may frame it.
 */
const hardening = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'self'"] },
  },
  strictTransportSecurity: false,
});

/** The headers as a flat list of names and values. They are the same for every request. */
function hardeningHeaders(): string[] {
  const headers: string[] = [];
  const response = { setHeader: (name: string, value: string) => headers.push(name, value), removeHeader() {} };
  hardening({} as IncomingMessage, response as unknown as ServerResponse, () => undefined);
  return headers;
}

export function createHttpEntrance(options: EntranceOptions): HttpServer {
  const routes = new RouteMap();
  const origins = new CorsPolicy(options.config);
  const access = new AccessGate(options);
  const names = new HostNames({ config: options.config, origins, mustLogIn: () => access.mustLogIn() });
  const network = (request: IncomingMessage): string => names.networkOf(request);
  const streams = new StreamServer({ ...options, access, origins, network });
  const headers = [...hardeningHeaders(), 'Cache-Control', 'no-store'];
  const refused = new RefusedChanges(options.log);
  const requests = new RequestCounts();
  const dispatch = createDispatch({ ...options, routes, origins, access, refused, requests, headers });
  const connections = new Connections(network);
  const listening = new Set<Listener>();
  let description: Record<string, unknown> | undefined;
  let listener: Listener | undefined;
  let closing = false;

  /** The same listener, but requests for a host name that is not served are refused. */
  const guarded = (listener: ListenerOptions): ListenerOptions => ({
    ...listener,
    request(request, response) {
      const check = names.check(request);
      if (check === undefined) listener.request(request, response);
      else
        void check.then(problem => {
          if (problem === undefined) return listener.request(request, response);
          refused.note(request, { status: problem.status, reason: problem.message });
          refuse(response, problem.status, problem.message);
        });
    },
    upgrade(request, socket, head) {
      const check = names.check(request);
      if (check === undefined) listener.upgrade(request, socket, head);
      else
        void check.then(problem => {
          if (problem === undefined) listener.upgrade(request, socket, head);
          else refuseSocket(socket, problem.status, problem.message);
        });
    },
  });

  /** Wraps a withdrawal: every change of the registrations makes the cached OpenAPI document obsolete. */
  const changes = (change: () => void) => () => {
    description = undefined;
    change();
  };

  const entrance: HttpServer = {
    requests,
    handle: (request, response, via) => void dispatch(request, response, via),
    upgrade: (request, socket, head) => void streams.accept(request, socket, head),
    allowCut(response) {
      connections.allowCut(response);
      endWhenStalled(response, options.unreadMs);
    },
    isStream: url => streams.has(url),
    allowsOrigin: origin => origins.allows(origin),
    mustLogIn: () => access.mustLogIn(),
    ports: () => [...listening].map(({ port }) => port),
    async open(wanted) {
      const opened = await openListener(guarded(wanted), { connections, requestMs: options.requestMs });
      const listener: Listener = {
        ...opened,
        async close(graceMs) {
          listening.delete(listener);
          await opened.close(graceMs);
        },
      };
      listening.add(listener);
      return listener;
    },
    addRoute(owner, route) {
      description = undefined;
      return changes(routes.add(owner, route));
    },
    addStream(owner, stream) {
      description = undefined;
      return changes(streams.add(owner, stream));
    },
    openapi() {
      description ??= describeApi({ version: options.version, routes: routes.all(), streams: streams.all() });
      return description;
    },
    async listen(wanted) {
      const opened = await entrance.open({
        ...wanted,
        cancelled: () => closing || options.stopping(),
        request: (request, response) => entrance.handle(request, response, NATIVE),
        upgrade: entrance.upgrade,
      });
      listener = opened;
      if (closing) await opened.close(0);
      return { host: opened.host, port: opened.port };
    },
    closeIdleConnections: () => connections.closeIdle(),
    closeStreams: (code, reason) => streams.closeAll(code, reason),
    async close(graceMs) {
      closing = true;
      streams.closeAll(1001, 'The service is shutting down');
      await Promise.all([listener?.close(graceMs), streams.end(graceMs)]);
    },
  };
  return entrance;
}
