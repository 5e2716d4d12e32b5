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
  /** Whether the caller showed valid credentials, or authentication is off. Public routes tell other callers less. */
  readonly trusted: boolean;
  /** Aborts when the client disconnects. Operations that must be completed ignore this signal. */
  readonly signal: AbortSignal;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Address of the peer's socket, which may be a proxy; undefined once it is closed. */
  readonly peer: string | undefined;
}

/** The deeply read-only form of a type, so that handlers can return values that must not be changed. */
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
 * What a handler returns: a value, which becomes a 200 JSON answer, or an `Answer` with its own status, headers or
 * media type. Bytes and streams with a JSON content type hold the JSON text of a value that fits the schema.
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
  /** Whether only the native listener serves the route, not the gateway. */
  readonly nativeOnly?: boolean;
  /** Whether the route is left out of the API description, as pages and their assets are. */
  readonly hidden?: boolean;
  /**
   * Schema of the query. Its values arrive as texts, which the schemas `queryBoolean`, `queryInteger`, `queryNumber`
   * and `queryList` of `#kit/query-values` convert. The last value of a repeated name counts, except for lists.
   */
  readonly query?: Query;
  readonly body?: Body;
  /**
   * Largest body that is accepted. Default 1 MiB, but 8 KiB on a public route for callers without valid credentials.
   */
  readonly bodyLimitBytes?: number;
  /**
   * Whether members of the body may be called `__proto__`, `constructor` and `prototype`, as in files of other
   * programs. Such a body is refused otherwise, because code that copies members by name would reach a prototype. A
   * handler that allows them reads own members only, and copies them only to objects without a prototype. An object
   * schema of zod drops `__proto__`. Default false.
   */
  readonly holdsForeignNames?: boolean;
  /**
   * Whether an answer above 8 KiB is compressed for clients that accept gzip. Bytes that the handler returns with
   * `Content-Encoding: gzip` are sent to these clients as they are, and decompressed for others. Default false.
   */
  readonly compress?: boolean;
  /**
   * Whether a request changes nothing although its method suggests it, so that it is also answered while the host is
   * stopping. Default false.
   */
  readonly changesNothing?: boolean;
  /** How long the handler may take before the caller gets a 503. Default 15 min. */
  readonly deadlineMs?: number;
  /**
   * Schema of the 200 answer: it types what the handler returns, documents the route, and is checked in tests. Within
   * `z.lazy` it is built only when the API description is requested, and not at each start.
   */
  readonly response?: Response;
  /** Media types of the 200 answer in the API description. Default: that of JSON. */
  readonly mediaTypes?: readonly string[];
  /** Answers a request. While the host is stopping, requests that may change something get a 503 instead. */
  handle(
    request: RouteRequest<z.output<Query>, z.output<Body>>,
  ): RouteResult<Response> | Promise<RouteResult<Response>>;
}

/** Wraps the body that a handler returns, to set the status or the headers, such as the content type. */
export function answer<Body>(
  body: Body,
  options: { status?: number; headers?: Record<string, string> } = {},
): Answer<Body> {
  return new Answer(body, options.status ?? 200, options.headers ?? {});
}

export class Answer<Body> {
  /** An object or array is sent as JSON; text, bytes and streams are sent as they are, with the given content type. */
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

/** Identifies the caller before a protected route or stream is served. */
export interface AccessCheck {
  /**
   * Identifies the caller; `{username: null}` while authentication is disabled. Throws a Problem 401 or 503 to refuse.
   */
  check(request: AccessRequest): Promise<Identity> | Identity;
  /** Calls `listener` when callers may have lost their access, so that the host checks the open streams again. */
  onRevoked?(listener: () => void): Disposer;
  /** Whether callers must log in at present. */
  enabled(): boolean;
  /** Whether this host issued the credentials in an `Authorization` header, valid or not. They are never passed on. */
  issued?(authorization: string): boolean;
}

/** The way by which a request reached the host. */
export interface Via {
  /** Whether the request came through the native listener; `nativeOnly` routes do not exist for others. */
  readonly native: boolean;
  /** Prefix that is removed from the path, for example `/api`. */
  readonly prefix?: string;
}

export interface ListenerOptions {
  readonly host: string;
  /** Port to listen on; 0 takes any free one. */
  readonly port: number;
  /** How long the host keeps trying while the port is in use. Default 0. */
  readonly retryMs?: number;
  /** Called once when the port is in use and will be tried again. `holder` names the program that has it, if known. */
  taken?(holder: string): void;
  /** Called between two tries; true gives up. */
  cancelled?(): boolean;
  request(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

export interface Listener {
  readonly host: string;
  /** The port in use, even if `ListenerOptions.port` was 0. */
  readonly port: number;
  /**
   * Resolves when every connection that carries requests is closed; after `graceMs` they are cut. Upgraded connections
   * stay open: the handler of `upgrade` closes them.
   */
  close(graceMs: number): Promise<void>;
}

/** The requests of one group of routes since the start of the host. */
export interface RequestCount {
  /** The group as in the API description; `unknown` for requests that no route takes. */
  readonly group: string;
  /** The number of requests by outcome: `1xx` to `5xx` for the status, or `cut` when the client disconnected first. */
  readonly answers: Readonly<Record<string, number>>;
  /** The total duration of these requests, each from its head to the end of its answer. */
  readonly seconds: number;
}

/** Counts the requests to routes, of all listeners together. */
export interface HttpRequests {
  counts(): readonly RequestCount[];
}

/** The host's routes and streams, for a plugin that serves them through a listener of its own. */
export interface HttpEntrance {
  handle(request: IncomingMessage, response: ServerResponse, via: Via): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /**
   * Lifts the time limit of this request and its answer. They end when the client neither sends nor receives anything
   * for a minute. When all connections are in use, the answer may be cut in favour of a client that has fewer of them.
   */
  allowCut(response: ServerResponse): void;
  /** Whether the path of this URL is that of a stream. */
  isStream(url: string): boolean;
  /** Whether pages of this origin may call the API (`dumb.frontend.origins`). */
  allowsOrigin(origin: string): boolean;
  /** Whether callers must log in at present. True also when users exist but no plugin checks them. */
  mustLogIn(): Promise<boolean>;
  /** All ports on which this host listens at present. */
  ports(): readonly number[];
  /** Opens a further listener with the host's limits and time-outs. The caller closes it. */
  open(options: ListenerOptions): Promise<Listener>;
}
