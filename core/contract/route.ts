// Routes: what a plugin says about one, what its handler is given, and how requests come in.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { z } from 'zod';
import type { Disposer } from './plugin.ts';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface RouteRequest<Query, Body> {
  readonly query: Query;
  readonly body: Body;
  /** Values of `{name}` in the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly identity: Identity;
  /** Whether the caller showed valid credentials, or none are needed; tells on public routes how much to say. */
  readonly trusted: boolean;
  /** Fires when the client went away. Operations that must finish ignore it. */
  readonly signal: AbortSignal;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly peer: string | undefined;
}

/** Nothing of it is changed by whoever receives it. */
type Unchanged<Value> = Value extends readonly (infer Member)[]
  ? readonly Unchanged<Member>[]
  : Value extends Uint8Array
    ? Value
    : Value extends object
      ? { readonly [Key in keyof Value]: Unchanged<Value[Key]> }
      : Value;

/** What an answer of this schema holds. */
export type ResponseBody<Schema extends z.ZodType> = Unchanged<z.input<Schema>>;

/** What a handler returns: a value, which is a 200 JSON answer, or one with its own status, headers or media type. */
export type RouteResult<Schema extends z.ZodType> = ResponseBody<Schema> | Answer<ResponseBody<Schema>>;

export interface Route<
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
> {
  readonly method: HttpMethod;
  /** Constant, or with `{name}` segments; without a trailing slash (both forms are served). A last segment `{name...}` takes the rest. */
  readonly path: string;
  /** One sentence for the documentation. */
  readonly summary: string;
  /** Group in the documentation; default the plugin's name. */
  readonly tag?: string;
  /** Capability flags that this route turns on. */
  readonly capability?: string | readonly string[];
  /** `public` needs no credentials. Default `protected`. */
  readonly access?: 'public' | 'protected';
  /** Served by the native listener only, not through the gateway. */
  readonly nativeOnly?: boolean;
  /** Not in the API description (pages and assets). */
  readonly hidden?: boolean;
  /** Members arrive as text, repeated ones as lists of text: use `queryBoolean`, `queryInteger`, `queryNumber`, `queryList`. */
  readonly query?: Query;
  readonly body?: Body;
  /** Largest accepted body. Default 1 MiB. */
  readonly bodyLimitBytes?: number;
  /** Schema of the 200 answer: the type of what the handler returns, documentation, and checked in tests. */
  readonly response?: Response;
  /** Once the host is stopping, non-GET routes answer 503; true for a GET exempts nothing else. */
  handle(
    request: RouteRequest<z.output<Query>, z.output<Body>>,
  ): RouteResult<Response> | Promise<RouteResult<Response>>;
}

/** Wraps a handler's value to set status, headers or media type. */
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
  readonly username: string | null;
}

export interface AccessRequest {
  /** Value of the Authorization header, or undefined. Streams give the `token` query parameter as `Bearer <token>`. */
  readonly authorization: string | undefined;
  /** Address of the peer's socket. */
  readonly peer: string | undefined;
}

/** What the host asks before a protected route or stream is served. */
export interface AccessCheck {
  /** Throws Problem 401 or 503 to refuse. With authentication disabled it answers `{username: null}`. */
  check(request: AccessRequest): Promise<Identity> | Identity;
  /** Calls back when identities may have lost access, so that open streams are checked again. */
  onRevoked?(listener: () => void): Disposer;
  /** Whether callers must identify themselves at present. */
  enabled(): boolean;
}

/** How a request came in. */
export interface Via {
  /** Through the service's own listener; false hides `nativeOnly` routes. */
  readonly native: boolean;
  /** Removed from the path at a segment boundary, for example `/api`. */
  readonly prefix?: string;
}

export interface ListenerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** How long a port in use is tried again. Default 0. */
  readonly retryMs?: number;
  /** Asked between tries. */
  cancelled?(): boolean;
  request(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

export interface Listener {
  readonly host: string;
  readonly port: number;
  /** Resolves when every connection that carries requests is gone; upgraded ones belong to who took them. */
  close(graceMs: number): Promise<void>;
}

/** What a plugin with a listener of its own uses. */
export interface HttpEntrance {
  handle(request: IncomingMessage, response: ServerResponse, via: Via): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Whether pages of this origin may call the API (`dumb.frontend.origins`). */
  allowsOrigin(origin: string): boolean;
  /** A further listener with the same limits and time-outs; its owner closes it. */
  open(options: ListenerOptions): Promise<Listener>;
}
