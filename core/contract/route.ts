// HTTP as plugins see it: routes with their requests and answers, the access check, and listeners.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { z } from 'zod';
import type { Disposer } from './disposer.ts';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface RouteRequest<Query, Body> {
  readonly query: Query;
  readonly body: Body;
  /** Values of `{name}` in the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly identity: Identity;
  /** Whether the caller showed valid credentials, or none are needed. Public routes tell others less. */
  readonly trusted: boolean;
  /** Aborts when the client disconnects. Operations that must be completed ignore it. */
  readonly signal: AbortSignal;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Address of the peer's socket, which may be a proxy; undefined once it is closed. */
  readonly peer: string | undefined;
}

/** The deeply read-only form of a value, because its receivers never change it. */
type Unchanged<Value> = Value extends readonly (infer Member)[]
  ? readonly Unchanged<Member>[]
  : Value extends Uint8Array
    ? Value
    : Value extends object
      ? { readonly [Key in keyof Value]: Unchanged<Value[Key]> }
      : Value;

/** The body of an answer with this schema. */
export type ResponseBody<Schema extends z.ZodType> = Unchanged<z.input<Schema>>;

/**
 * What a handler returns: a value, which is a 200 JSON answer, or one with its own status, headers or media type. Bytes
 * and what is read from a stream are the text of such a value when their content type is JSON.
 */
export type RouteResult<Schema extends z.ZodType> =
  | ResponseBody<Schema>
  | Answer<ResponseBody<Schema>>
  | Answer<Uint8Array>
  | Answer<Readable>;

export interface Route<
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
> {
  readonly method: HttpMethod;
  /**
   * A constant path, or one with `{name}` segments; a last segment `{name...}` matches the rest of the path. Written
   * without a trailing slash, served with and without one.
   */
  readonly path: string;
  /** One sentence for the API description. */
  readonly summary: string;
  /** Group in the API description. Default: the plugin's name. */
  readonly tag?: string;
  /** Capability flags that this route turns on. */
  readonly capability?: string | readonly string[];
  /** `public` needs no credentials. Default `protected`. */
  readonly access?: 'public' | 'protected';
  /** Whether the route is served by the native listener only, not through the gateway. */
  readonly nativeOnly?: boolean;
  /** Whether the route is left out of the API description, as pages and their assets are. */
  readonly hidden?: boolean;
  /**
   * Schema of the query. Its values arrive as texts, which the schemas `queryBoolean`, `queryInteger`, `queryNumber`
   * and
   * `queryList` of `#kit/query-values` convert. Of a repeated name the last value counts, except for lists.
   */
  readonly query?: Query;
  readonly body?: Body;
  /**
   * Largest body that is accepted. Default 1 MiB; 8 KiB of callers of a public route who showed no valid credentials.
   */
  readonly bodyLimitBytes?: number;
  /**
   * Whether members of the body may be called `__proto__`, `constructor` and `prototype`, as those of foreign files
   * may: whoever sets it reads own members only, and copies them only to objects without a prototype. A schema of zod
   * drops a
   * `__proto__` wherever it names the members of an object. Such a body is refused otherwise, because code that copies
   * by names would reach a prototype. Default false.
   */
  readonly holdsForeignNames?: boolean;
  /**
   * Whether an answer above 8 KiB is compressed for clients that take gzip. Bytes that are answered with
   * `Content-Encoding: gzip` are sent to those as they are, and unpacked for others. Default false.
   */
  readonly compress?: boolean;
  /**
   * Whether a request changes nothing although its method may, so that it is answered while the host is stopping as
   * well. Default false.
   */
  readonly changesNothing?: boolean;
  /** How long the handler may take before the caller gets a 503. Default 15 min. */
  readonly deadlineMs?: number;
  /**
   * Schema of the 200 answer: the type of what the handler returns, documentation, and checked in tests. Within
   * `z.lazy` it is built when somebody asks for the description, and not at each start.
   */
  readonly response?: Response;
  /** Answers a request. While the host is stopping, those that may change something are answered 503 instead. */
  handle(
    request: RouteRequest<z.output<Query>, z.output<Body>>,
  ): RouteResult<Response> | Promise<RouteResult<Response>>;
}

/** Wraps the body that a handler returns, to set the status, the headers or the media type of the answer. */
export function answer<Body>(
  body: Body,
  options: { status?: number; headers?: Record<string, string> } = {},
): Answer<Body> {
  return new Answer(body, options.status ?? 200, options.headers ?? {});
}

export class Answer<Body> {
  /** An object or array is sent as JSON; text and bytes as they are, under the given content type. */
  readonly body: Body;
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(body: Body, status: number, headers: Record<string, string>) {
    this.body = body;
    this.status = status;
    this.headers = headers;
  }
}

export interface Identity {
  /** null where authentication is off. */
  readonly username: string | null;
}

export interface AccessRequest {
  /** Value of the Authorization header, if any. For a stream, its `token` query parameter as `Bearer <token>`. */
  readonly authorization: string | undefined;
  /** Address of the peer's socket. */
  readonly peer: string | undefined;
}

/** What the host asks before a protected route or stream is served. */
export interface AccessCheck {
  /**
   * Identifies the caller; `{username: null}` while authentication is disabled. Throws a Problem 401 or 503 to refuse.
   */
  check(request: AccessRequest): Promise<Identity> | Identity;
  /** Calls `listener` when callers may have lost their access, so that the host checks the open streams again. */
  onRevoked?(listener: () => void): Disposer;
  /** Whether callers must identify themselves at present. */
  enabled(): boolean;
  /** Whether the value of an `Authorization` header was issued here, good or not. Such a one is never passed on. */
  issued?(authorization: string): boolean;
}

/** How a request came in. */
export interface Via {
  /** Whether the request came through the native listener; `nativeOnly` routes do not exist for others. */
  readonly native: boolean;
  /** Leading segments that are removed from the path, for example `/api`. */
  readonly prefix?: string;
}

export interface ListenerOptions {
  readonly host: string;
  /** Port to listen on; 0 takes any free one. */
  readonly port: number;
  /** How long a port that is in use is tried again. Default 0. */
  readonly retryMs?: number;
  /** Called once when the port is in use and will be tried again. `holder` says by whom, as far as that can be seen. */
  taken?(holder: string): void;
  /** Asked between two tries; true gives up. */
  cancelled?(): boolean;
  request(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

export interface Listener {
  readonly host: string;
  /** The port in use, also when any free one was asked for. */
  readonly port: number;
  /**
   * Resolves when every connection that carries requests is closed; after `graceMs` they are cut. Upgraded connections
   * belong to whoever took them over.
   */
  close(graceMs: number): Promise<void>;
}

/** The requests of one group of routes since the start of the host. */
export interface RequestCount {
  /** As in the API description; `unknown` where there is no such route. */
  readonly group: string;
  /** How many were answered with `1xx` to `5xx`, and how many were `cut` because the client was gone first. */
  readonly answers: Readonly<Record<string, number>>;
  /** How long all of them together took, from their heads to the ends of their answers. */
  readonly seconds: number;
}

/** Counts the requests to routes, whatever listener they came through. */
export interface HttpRequests {
  counts(): readonly RequestCount[];
}

/** What a plugin needs to serve the host's routes and streams through a listener of its own. */
export interface HttpEntrance {
  handle(request: IncomingMessage, response: ServerResponse, via: Via): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /**
   * Says that this answer, and the request for it, take whatever time they need: they end when the client neither sends
   * nor takes anything for a minute, and where all connections are taken the answer may be cut to make room for a
   * client that has fewer of them.
   */
  allowCut(response: ServerResponse): void;
  /** Whether a stream stands at the path of this URL. */
  isStream(url: string): boolean;
  /** Whether pages of this origin may call the API (`dumb.frontend.origins`). */
  allowsOrigin(origin: string): boolean;
  /** Whether callers must log in at present; true also where users exist that no plugin checks. */
  mustLogIn(): Promise<boolean>;
  /** The ports at which this host listens at present, whoever opened them. */
  ports(): readonly number[];
  /** Opens a further listener with the host's limits and time-outs; whoever opened it closes it. */
  open(options: ListenerOptions): Promise<Listener>;
}
