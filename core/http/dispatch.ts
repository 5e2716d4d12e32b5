// The steps of one request: route, access check, validation, handler, answer. errors.ts answers every failure.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import type { Logger } from '../contract/log.ts';
import { Problem } from '../contract/problem.ts';
import { Answer, type Identity, type Route, type RouteRequest, type Via } from '../contract/route.ts';
import { ownTurns } from '../kit/turns.ts';
import { type AccessGate, accessOf } from './access.ts';
import { isRaw, jsonOf, type Stringify } from './answer-body.ts';
import { readAs } from './answer-source.ts';
import { readJson } from './body.ts';
import { BodyBudget } from './body-budget.ts';
import { compressed, isGzip } from './compression.ts';
import { type CorsPolicy, FOREIGN_SITE, isSafe } from './cors-policy.ts';
import { failureAnswer, shapeProblem } from './errors.ts';
import { parseQuery } from './query.ts';
import type { RefusedChanges } from './refused-changes.ts';
import type { RequestCounts } from './request-counts.ts';
import type { OwnedRoute, RouteMap, RouteMatch } from './route-map.ts';
import { asAnswer, sendAnswer, sendPreflight } from './send-answer.ts';
import { UnreadAnswers } from './unread-answers.ts';

export interface DispatchOptions {
  readonly log: Logger;
  readonly routes: RouteMap;
  readonly origins: CorsPolicy;
  readonly access: AccessGate;
  readonly refused: RefusedChanges;
  readonly requests: RequestCounts;
  /** The headers of every answer, as a flat list of names and values. A handler may replace them. */
  readonly headers: readonly string[];
  readonly checkAnswers?: boolean;
  /** How long a client may read nothing of its answer. Default 60 s. */
  readonly unreadMs?: number;
  stopping(): boolean;
}

export type Dispatch = (request: IncomingMessage, response: ServerResponse, via: Via) => Promise<void>;

const DEFAULT_LIMIT_BYTES = 1024 * 1024;
/** The limit for callers without credentials, whose bodies on all connections together stay within the budget. */
const UNTRUSTED_LIMIT_BYTES = 8 * 1024;
/** The group of all requests that no route takes. */
const UNKNOWN_GROUP = 'unknown';
/** The reason of a handler's signal. A handler that throws it is refused, and it is not a fault of the plugin. */
const CLIENT_GONE = 'The client has gone';

export function createDispatch(options: DispatchOptions): Dispatch {
  const { log, routes, origins, access, refused, requests, headers: common } = options;
  const bodies = new BodyBudget();
  const unread = new UnreadAnswers(options.unreadMs);
  const turnWithTime = ownTurns();

  /** Checks the caller and the request, runs the handler, and resolves with what it returns. */
  async function run(match: RouteMatch, call: Call, queryText: string): Promise<unknown> {
    const { owner, route } = match.owned;
    const { request } = call;
    const mutating = !isSafe(request.method);
    if (mutating && origins.isForeign(request)) throw new Problem(403, FOREIGN_SITE);
    if (mutating && route.changesNothing !== true && options.stopping()) throw shuttingDown();
    const admission = await access.admit(
      { authorization: request.headers.authorization, peer: call.peer },
      accessOf(route),
    );
    call.identity = admission.identity;
    call.trusted = admission.trusted;
    call.params = match.params;
    // Schemas may hold functions of the plugin, so they run as code of the plugin too.
    const handle = async (body?: unknown): Promise<unknown> => {
      const value = await owner.invoke(match.owned.call, () => {
        if (route.query !== undefined) call.query = parsed(route.query, 'query', parseQuery(queryText, route.query));
        if (mutating && route.body !== undefined) call.body = parsed(route.body, 'body', body);
        return route.handle(call);
      });
      return withSource(match.owned, checked(route, value));
    };
    if (!mutating) return handle();
    // A client may send many requests at once, such as a start of each service.
    await turnWithTime();
    const share = bodies.open();
    try {
      const usualBytes = admission.trusted ? DEFAULT_LIMIT_BYTES : UNTRUSTED_LIMIT_BYTES;
      const limitBytes = Math.min(route.bodyLimitBytes ?? usualBytes, bodies.largestBytes);
      const value = await readJson(request, { limitBytes, holdsForeignNames: route.holdsForeignNames === true }, share);
      return await handle(value === undefined ? {} : value);
    } finally {
      share.release();
    }
  }

  function checked(route: Route, value: unknown): unknown {
    if (!options.checkAnswers || route.response === undefined) return value;
    const { body, status } = asAnswer(value);
    // The content of a stream is not known yet.
    if (status !== 200 || body instanceof Readable) return value;
    const result = route.response.safeParse(isRaw(value) ? rawForm(value) : wireForm(body));
    if (!result.success) throw new Error(`the answer does not fit its schema: ${result.error.message}`);
    return value;
  }

  function noteEnd({ request, response, path, startedAt, owned }: Exchange): void {
    const isWhole = response.writableFinished;
    const ms = performance.now() - startedAt;
    requests.add(owned?.group ?? UNKNOWN_GROUP, isWhole ? response.statusCode : 0, ms);
    log.debug(`${request.method} ${path} ${response.statusCode} in ${Math.round(ms)} ms${isWhole ? '' : ' (cut)'}`);
  }

  /** The route of the request, or the methods that its path takes. Throws a Problem where there is neither. */
  function matchOf(request: IncomingMessage, path: string, via: Via): RouteMatch | readonly string[] {
    const match = routes.find(request.method ?? 'GET', path);
    // During a stop, routes are withdrawn while the listener still answers; a 404 would say that they do not exist.
    if (match === undefined) throw options.stopping() ? shuttingDown() : new Problem(404, 'Not found');
    if ('owned' in match && match.owned.route.nativeOnly && !via.native) throw new Problem(404, 'Not found');
    return match;
  }

  /** Answers a request whose path only takes other methods. Throws a Problem for all but a preflight. */
  function answerMethods(request: IncomingMessage, response: ServerResponse, methods: readonly string[]): void {
    if (request.method !== 'OPTIONS')
      throw new Problem(405, `Use ${methods.join(', ')} here`, { headers: { Allow: methods.join(', ') } });
    const allow = [...methods, 'OPTIONS'].join(', ');
    const foreign = request.headers.origin;
    if (foreign !== undefined && !origins.allows(foreign))
      throw new Problem(400, FOREIGN_SITE, { headers: { Allow: allow } });
    sendPreflight(response, allow, common);
  }

  function answerFailure(exchange: Exchange, error: unknown): void {
    const { request, response, path } = exchange;
    if (response.headersSent || response.destroyed) {
      log.debug(`${request.method} ${path}: the client was gone before its answer`, error);
      response.destroy();
      return;
    }
    try {
      sendFailure(exchange, error);
    } catch (unsendable) {
      // A Problem of the plugin may have a status, headers or members that cannot be sent.
      sendFailure(exchange, unsendable);
    }
  }

  function sendFailure(exchange: Exchange, cause: unknown): void {
    const { request, response, path, owned, stringify } = exchange;
    const report = (error: Error): void => {
      if (owned === undefined) log.error('a request failed', error);
      else owned.owner.fault('route', error);
    };
    const failure = exchange.asPlugin(() => failureAnswer(cause, `${request.method} ${path}`, report));
    const headers = { ...failure.headers, 'Content-Type': 'application/json; charset=utf-8' };
    refused.note(request, { status: failure.status, reason: String(failure.body.detail) });
    sendAnswer(response, new Answer(failure.body, failure.status, headers), common, stringify);
  }

  return async (request, response, via) => {
    const { path, queryText } = target(request.url ?? '/', via.prefix);
    const exchange = new Exchange(request, response, path);
    response.once('close', () => noteEnd(exchange));
    try {
      const foreign = request.headers.origin;
      if (foreign !== undefined) allowOrigin(response, foreign, origins.allows(foreign));
      const match = matchOf(request, path, via);
      if (!('owned' in match)) return answerMethods(request, response, match);
      const { owned } = match;
      exchange.owned = owned;
      const value = await run(match, new Call(request, response, owned), queryText);
      const { stringify } = exchange;
      const { compress = false } = owned.route;
      const accepted = request.headers['accept-encoding'];
      sendAnswer(response, compress ? await compressed(value, accepted, stringify) : value, common, stringify);
      unread.watch(request, response);
    } catch (error) {
      answerFailure(exchange, error);
    }
  };
}

/** A request and its answer. */
class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly startedAt = performance.now();
  /** undefined until a route is found, and for a request that no route takes. */
  owned: OwnedRoute | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, path: string) {
    this.request = request;
    this.response = response;
    this.path = path;
  }

  readonly stringify: Stringify = body => this.asPlugin(() => jsonOf(body));

  /** Runs a function as code of the route's plugin, because answers and Problems may have accessors. */
  asPlugin<Value>(fn: () => Value): Value {
    return this.owned === undefined ? fn() : this.owned.owner.invoke(this.owned.call, fn);
  }
}

function shuttingDown(): Problem {
  return new Problem(503, 'The service is shutting down');
}

/** Wraps a stream, which is read as code of the plugin. Throws for an iterable that is no Readable. */
function withSource({ owner, call }: OwnedRoute, value: unknown): unknown {
  const { body, status, headers } = asAnswer(value);
  if (body instanceof Readable) return new Answer(readAs(owner, call, body), status, headers);
  if (typeof body === 'object' && body !== null && Symbol.asyncIterator in body)
    throw new TypeError('the answer is a stream that is no Readable; make one of it with Readable.from');
  return value;
}

/** The request as its handler gets it. */
class Call implements RouteRequest<unknown, unknown> {
  readonly request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #owned: OwnedRoute;
  #abort: AbortController | undefined;
  query: unknown;
  body: unknown;
  params: Readonly<Record<string, string>> = {};
  identity: Identity = { username: null };
  trusted = false;

  constructor(request: IncomingMessage, response: ServerResponse, owned: OwnedRoute) {
    this.request = request;
    this.#response = response;
    this.#owned = owned;
  }

  get headers(): IncomingMessage['headers'] {
    return this.request.headers;
  }

  get peer(): string | undefined {
    return this.request.socket.remoteAddress;
  }

  /** Created on first use, because most handlers do not need it. Its listeners run as code of the plugin. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const abort = new AbortController();
      const response = this.#response;
      const { owner, call } = this.#owned;
      const gone = () => {
        if (!response.writableFinished) owner.invoke(call, () => abort.abort(new Problem(503, CLIENT_GONE)));
      };
      if (response.destroyed) gone();
      else response.once('close', gone);
      this.#abort = abort;
    }
    return this.#abort.signal;
  }
}

function target(url: string, prefix: string | undefined): { path: string; queryText: string } {
  const mark = url.indexOf('?');
  const whole = mark < 0 ? url : url.slice(0, mark);
  const queryText = mark < 0 ? '' : url.slice(mark + 1);
  if (prefix === undefined || !(whole === prefix || whole.startsWith(`${prefix}/`))) return { path: whole, queryText };
  return { path: whole.slice(prefix.length) || '/', queryText };
}

function parsed(schema: NonNullable<Route['query']>, place: string, value: unknown): unknown {
  const result = schema.safeParse(value);
  if (!result.success) throw shapeProblem(place, result.error);
  return result.data;
}

/** The value whose JSON the bytes are, if their content type says so; otherwise the text or the bytes. */
function rawForm(value: Answer<string | Uint8Array>): unknown {
  const { body, headers } = value;
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  if (!type.startsWith('application/json') || typeof body === 'string') return body;
  return JSON.parse(Buffer.from(isGzip(value) ? gunzipSync(body) : body).toString());
}

/** The value as the client gets it: without undefined members, and with dates as text. */
function wireForm(value: unknown): unknown {
  return value === undefined ? null : JSON.parse(jsonOf(value));
}

function allowOrigin(response: ServerResponse, origin: string, allowed: boolean): void {
  response.setHeader('Vary', 'Origin');
  if (allowed) response.setHeader('Access-Control-Allow-Origin', origin);
}
