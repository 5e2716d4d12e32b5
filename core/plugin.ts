// The whole contract between the host and a plugin. Plugins import this file as `#core` and nothing else of the host; what
// runs in a worker thread takes `#core/output`.

import type { AsyncParallelHook, AsyncSeriesHook, AsyncSeriesWaterfallHook } from 'tapable';
import type { z } from 'zod';
import type { ConfigStore } from './config/store.ts';
import type { HttpEntrance } from './http/server.ts';
import type { LogHub } from './log/hub.ts';
import type { Problem } from './problem.ts';

export { fileVersion, fileVersions, namesOutside } from './abandonable-look.ts';
export { isPortBusy } from './busy-port.ts';
export { findBlocks } from './config/blocks.ts';
export { deepFreeze } from './config/layers.ts';
export type { ConfigChange, ConfigStore, ConfigUpdateResult, NamedBlock } from './config/store.ts';
export { removeTemporaryFiles, writeFileAtomic } from './config/write.ts';
export { YamlEditor, yamlValues } from './config/yaml-text.ts';
export { isLoopback } from './http/loopback.ts';
export { queryBoolean, queryInteger, queryList, queryNumber } from './http/query.ts';
export type { HttpEntrance } from './http/server.ts';
export type { LogHub, LogLine } from './log/hub.ts';
export { type Mount, mountPoints } from './mount-table.ts';
export * from './output.ts';
export { Problem } from './problem.ts';
export { isSystemPath, realPlaceOf } from './real-places.ts';
export { isSameData } from './same-data.ts';
export { startWorker } from './worker.ts';

/** Undoes what a plugin did. Disposers run in reverse order of registration, each with a deadline of 5 s. */
export type Disposer = () => void | Promise<void>;

/** A plugin is one folder whose name is its id, with an index file whose default export is this object. */
export interface Plugin<Schema extends z.ZodType = z.ZodType> {
  /** Equals the folder's name. */
  readonly name: string;
  readonly version?: string;
  /** Semver range of the contract this plugin was written for, for example `^1`. */
  readonly host: string;
  /** Plugins that must be ready before this one; if one is absent or failed, this one is skipped. */
  readonly needs?: readonly string[];
  /** Plugins that are set up before this one when they are present. */
  readonly after?: readonly string[];
  /**
   * Schema of the plugin's own section, `dumb.<name>` of the configuration with `-` as `_`. Every member needs a
   * default, so that an absent section is valid. Called once, before `setup`.
   */
  readonly config?: (zod: typeof z) => Schema;
  /** Registers everything. May return a disposer. Deadline 10 s; a throw withdraws all that was registered. */
  setup(
    host: Host,
    config: z.output<Schema>,
  ): undefined | Disposer | Promise<undefined | Disposer> | void | Promise<void>;
}

/** Gives inference to a plugin object; changes nothing. */
export function definePlugin<Schema extends z.ZodType>(plugin: Plugin<Schema>): Plugin<Schema> {
  return plugin;
}

/** Things of a kind that can be listed. Owners add their kinds by declaration merging. */
export interface Contributions {
  /** A part of the configuration: its place below the root and its schema. Defaults come from the schema. */
  'config.schema': ConfigSection;
  /** Schema of the named blocks of one config key, or with the key `*` of every named block. */
  'config.block': { readonly schema: z.ZodType };
  /** What a named block holds where the file says nothing. */
  'config.template': BlockTemplate;
}

/** One implementation of a thing that others call. Owners add theirs by declaration merging. */
export interface Services {
  'config.store': ConfigStore;
  'http.entrance': HttpEntrance;
  'log.hub': LogHub;
  /** Decides about every protected request and stream. Absent: open, unless users exist (see core/http/access.ts). */
  access: AccessCheck;
}

/** Moments in a flow. Owners add theirs by declaration merging and create them with `host.hook`. */
export interface Hooks {
  /** Before an update of the configuration is accepted: a tap that throws a Problem refuses it. */
  'config.check': AsyncSeriesHook<[ConfigCandidate]>;
  /** After memory, and disk if persisted, hold the new configuration. */
  'config.changed': AsyncParallelHook<[import('./config/store.ts').ConfigChange]>;
  /** After the listener answers. */
  'host.ready': AsyncParallelHook<[]>;
  /** Before anything is disposed. */
  'host.stopping': AsyncParallelHook<[]>;
  /** A second signal while stopping: end everything now. Deadline 5 s. */
  'host.forced': AsyncParallelHook<[]>;
}

export interface ConfigSection {
  /** Path below the root, for example `['dumb', 'startup']`. */
  readonly path: readonly string[];
  readonly schema: z.ZodType;
}

/** The default of one named block. */
export interface BlockTemplate {
  /** Path below the root; `[key, 'instances', name]` is a template for every instance of the key. */
  readonly path: readonly string[];
  /** The block, for an instance that of the given name. */
  block(instance: string): Record<string, unknown>;
  /** What the root key was called once. */
  readonly formerKey?: string;
}

/** What an update would make of the configuration, before it is accepted. */
export interface ConfigCandidate {
  readonly before: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>>;
  readonly processName: string | undefined;
  readonly persist: boolean;
  /** Sentences for the caller; a tap may add to them. */
  readonly warnings: string[];
}

export type HookKind = 'series' | 'parallel' | 'waterfall';

export interface HookOptions {
  /** false: a throwing tap fails the whole call (a veto). Default true: it is attributed to its plugin and counted. */
  readonly guarded?: boolean;
}

export interface TapOptions {
  /** Orders the taps of one hook: lower runs first, default 0. */
  readonly stage?: number;
  /** `host.stopping` only: how long the host waits for this tap. Default 5 s. */
  readonly deadlineMs?: number;
}

export type HookTap<Name extends keyof Hooks> =
  Hooks[Name] extends AsyncSeriesWaterfallHook<[infer Value, ...infer Rest]>
    ? (value: Value, ...rest: Rest) => Value | Promise<Value>
    : Hooks[Name] extends AsyncParallelHook<infer Args> | AsyncSeriesHook<infer Args>
      ? Args extends unknown[]
        ? (...args: Args) => void | Promise<void>
        : never
      : never;

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

/** A value with its own status, headers or media type; anything else that a handler returns is a 200 JSON answer. */
export interface RouteAnswer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** An object or array is sent as JSON; text and bytes as they are, under the given content type. */
  readonly body: unknown;
}

export interface Route<
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
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
  /** Schema of the 200 answer: documentation, and checked in tests. */
  readonly response?: Answer;
  /** Once the host is stopping, non-GET routes answer 503; true for a GET exempts nothing else. */
  handle(request: RouteRequest<z.output<Query>, z.output<Body>>): unknown;
}

/** Wraps a handler's value to set status, headers or media type. */
export function answer(
  body: unknown,
  options: { status?: number; headers?: Record<string, string> } = {},
): RouteAnswer {
  return new Answer(body, options.status ?? 200, options.headers ?? {});
}

export class Answer implements RouteAnswer {
  readonly body: unknown;
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(body: unknown, status: number, headers: Record<string, string>) {
    this.body = body;
    this.status = status;
    this.headers = headers;
  }
}

export interface Stream {
  /** Exact path, for example `/ws/logs`. */
  readonly path: string;
  readonly summary: string;
  readonly capability?: string | readonly string[];
  readonly access?: 'public' | 'protected';
  /** What answers an application `ping`. Default the text `pong`. */
  readonly pong?: string;
  /** Runs for each accepted client; what it returns runs when the client is gone. */
  open(client: StreamClient): Disposer | undefined;
}

export interface StreamClient {
  readonly query: URLSearchParams;
  readonly identity: Identity;
  /** Bytes handed over but not yet taken by the network. */
  readonly unsentBytes: number;
  /** Sends one text message. Never blocks; above 4 MiB unsent the client is closed with 4409. */
  send(text: string | Buffer): void;
  close(code: number, reason: string): void;
  /** Fires when the client is gone. */
  readonly signal: AbortSignal;
}

export interface Logger {
  debug(message: string, error?: unknown): void;
  info(message: string, error?: unknown): void;
  warn(message: string, error?: unknown): void;
  error(message: string, error?: unknown): void;
}

export interface Paths {
  /** Holds the configuration and all state. */
  readonly configDir: string;
  readonly logDir: string;
  /** Data shipped with the product. */
  readonly templatesDir: string;
}

export interface FetchOptions {
  method?: string;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  body?: string | Buffer;
  signal?: AbortSignal;
  /** Limit for the whole exchange. Default 15 s. */
  timeoutMs?: number;
  /** Larger answers fail. Default 10 MiB. */
  maxBytes?: number;
  /** Redirects followed. Default 5. */
  redirects?: number;
}

export interface FetchAnswer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
  /** Parses the text; throws when it is not JSON. */
  json(): unknown;
}

export type PluginState = 'ready' | 'failed' | 'skipped' | 'disabled';

/** One row of `GET /host/plugins`. */
export interface PluginReport {
  readonly name: string;
  readonly state: PluginState;
  readonly reason: string | null;
  readonly version: string | null;
  readonly loadMs: number | null;
  readonly folder: string;
  readonly routes: readonly string[];
  readonly streams: readonly string[];
  readonly capabilities: readonly string[];
  readonly contributions: readonly string[];
  readonly services: readonly string[];
  /** Faults caught after set-up, by place: `route`, `stream`, `tap`, `timer`, `job`, `uncaught`, `dispose`. */
  readonly errors: Readonly<Record<string, number>>;
}

export interface JobHandle {
  /** Runs the job unless it is running; resolves with its result. */
  run(input?: unknown): Promise<unknown>;
}

/** All that a plugin can reach. Everything registered here is withdrawn when the plugin is disposed. */
export interface Host {
  /** The plugin's own name. */
  readonly name: string;
  /** The product's version. */
  readonly version: string;
  /** Aborts when the plugin is disposed. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly paths: Paths;
  /** For plugins without imports. */
  readonly Problem: typeof Problem;

  route<Query extends z.ZodType = z.ZodType, Body extends z.ZodType = z.ZodType, Answer extends z.ZodType = z.ZodType>(
    route: Route<Query, Body, Answer>,
  ): void;
  stream(stream: Stream): void;

  /** `key` is unique within the point. */
  contribute<Point extends keyof Contributions>(point: Point, key: string, value: Contributions[Point]): void;
  /** The live list of a point, in order of registration. */
  contributions<Point extends keyof Contributions>(point: Point): ReadonlyMap<string, Contributions[Point]>;
  provide<Name extends keyof Services>(name: Name, service: Services[Name]): void;
  /** The present implementation; a Problem 503 when nothing provides it. Ask at each use, not once: plugins can be reloaded. */
  use<Name extends keyof Services>(name: Name): Services[Name];
  /** As `use`, but undefined when nothing provides it. */
  find<Name extends keyof Services>(name: Name): Services[Name] | undefined;

  /** Creates a hook that this plugin owns and calls. Taps made earlier are attached. */
  hook<Name extends keyof Hooks>(name: Name, kind: HookKind, options?: HookOptions): Hooks[Name];
  tap<Name extends keyof Hooks>(name: Name, fn: HookTap<Name>, options?: TapOptions): void;

  /** A flag that is not one route. Evaluated on every listing. */
  capability(flag: string, predicate: () => boolean): void;
  /** Every flag of every ready plugin, sorted by name. */
  capabilities(): Record<string, boolean>;
  plugins(): readonly PluginReport[];
  /** The API description of everything registered now. */
  openapi(): Record<string, unknown>;

  /** Runs `fn` again and again, `ms` after the previous run ended, from `host.ready` on. Faults are counted and backed off. */
  every(ms: number, fn: () => void | Promise<void>): Disposer;
  /** Cron expression in local time (croner). */
  cron(expression: string, fn: () => void | Promise<void>): Disposer;
  /** Background work of which one instance runs at a time. */
  job(kind: string, fn: (input: unknown, signal: AbortSignal) => unknown | Promise<unknown>): JobHandle;
  fetch(url: string, options?: FetchOptions): Promise<FetchAnswer>;

  /** Ends the whole host, as SIGTERM does. */
  stop(): void;
  /** Why the host is stopping: asked to, or a fault of its own; null while it runs. A plugin that is disposed while this is null is being reloaded or removed. */
  readonly stopping: 'request' | 'fault' | null;
}
