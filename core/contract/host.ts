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
  /** The host ends when it cannot be brought back. */
  readonly required: boolean;
  /** Faults since the host started, by place: `route`, `stream`, `tap`, `contribution`, `service`, `timer`, `uncaught` ... */
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
  /**
   * Makes this plugin the owner of a point: what others contribute, before or after, must fit, or the contributor fails with
   * a sentence.
   */
  point<Point extends keyof Contributions>(point: Point, options: PointOptions): ContributionList<Contributions[Point]>;
  /** The live list of a point, in order of registration; each function of a value runs as its contributor's. */
  contributions<Point extends keyof Contributions>(point: Point): ContributionList<Contributions[Point]>;
  /** Each function of the service, and each that it gives out, runs as this plugin's. */
  provide<Name extends keyof Services>(name: Name, service: Services[Name], options?: ProvideOptions): void;
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

/** One thing that a plugin contributed. */
export interface Contribution<Value> {
  /** Name of the plugin. */
  readonly owner: string;
  readonly key: string;
  readonly value: Value;
}

export interface ContributionList<Value> extends Iterable<Contribution<Value>> {
  readonly size: number;
  get(key: string): Contribution<Value> | undefined;
  values(): IterableIterator<Value>;
}

export interface PointOptions {
  /** What a value must be. It is asked, not used: members that it does not name stay. */
  readonly schema: z.ZodType;
  /** How long a result of a value's functions is waited for. Default 10 s. */
  readonly deadlineMs?: number;
  /** What a member of the value must give, awaited; anything else is a fault of the contributor and an error for the caller. */
  readonly answers?: Readonly<Record<string, z.ZodType>>;
  /** true: an error is part of what the functions may give. It is counted, and whoever calls tells of it. */
  readonly mayFail?: boolean;
}

export interface ProvideOptions {
  /** How long a result of its functions is waited for. Default 60 s. */
  readonly deadlineMs?: number;
  /** Of single functions, by name; Infinity: whoever calls sets a limit. */
  readonly deadlinesMs?: Readonly<Record<string, number>>;
  /** As in `PointOptions`. */
  readonly mayFail?: boolean;
}

export type HookKind = 'series' | 'parallel' | 'waterfall';

export interface HookOptions {
  /** false: a throwing tap fails the whole call (a veto). Default true: it is attributed to its plugin and counted. */
  readonly guarded?: boolean;
  /** How long each tap may take: what is late is told and left behind, and fails the call where taps can veto. Default 10 s. */
  readonly deadlineMs?: number;
  /** What a waterfall's value must be after each tap. */
  readonly schema?: z.ZodType;
}

export interface TapOptions {
  /** Orders the taps of one hook: lower runs first, default 0. */
  readonly stage?: number;
  /** How long this tap may take, where the hook's own time is not right for it. */
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
