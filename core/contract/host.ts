// All that a plugin can reach: the `host` object that its set-up is given.
import type { AsyncParallelHook, AsyncSeriesHook, AsyncSeriesWaterfallHook } from 'tapable';
import type { z } from 'zod';
import type { JobHandle } from './job.ts';
import type { Logger } from './log.ts';
import type { Contributions, Disposer, Hooks, Services } from './plugin.ts';
import type { Problem } from './problem.ts';
import type { Route } from './route.ts';
import type { Stream } from './stream.ts';

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
  /**
   * A wait of the product's own, such as a period of observation or the interval of a poll, at the pace of this host: `ms`
   * as shipped, a share of it in a host that a test runs faster. Not for deadlines, which guard against slowness.
   */
  paced(ms: number): number;
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
