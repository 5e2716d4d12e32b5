// The `host` object that a plugin's `setup` receives. A plugin can reach nothing of the host but its members.
import type { AsyncParallelHook, AsyncSeriesHook, AsyncSeriesWaterfallHook } from 'tapable';
import type { z } from 'zod';
import type { Database, DatabaseOptions } from './database.ts';
import type { Disposer } from './disposer.ts';
import type { AnyEvent, EmitOptions, EventDeclaration, EventListing, Events, EventType, HostEvent } from './event.ts';
import type { FetchAnswer, FetchOptions, FetchStream } from './fetch.ts';
import type { JobKind, Jobs, Schedule, ScheduleOptions } from './job.ts';
import type { Logger } from './log.ts';
import type { Contributions, Hooks, Services } from './plugin.ts';
import type { Problem } from './problem.ts';
import type { Route } from './route.ts';
import type { Stream } from './stream.ts';

export type Zod = typeof z;

export interface Paths {
  /** Holds the configuration and all state. */
  readonly configDir: string;
  readonly logDir: string;
  /** Data shipped with the product. */
  readonly templatesDir: string;
}

export type PluginState = 'ready' | 'failed' | 'skipped' | 'disabled';

/** One row of `GET /host/plugins`. */
export interface PluginReport {
  readonly name: string;
  readonly state: PluginState;
  /** Why the plugin is not ready; null when it is. */
  readonly reason: string | null;
  readonly version: string | null;
  /** Milliseconds that import and set-up took; null when they did not run. */
  readonly loadMs: number | null;
  /** Absolute path of the plugin's folder. */
  readonly folder: string;
  readonly routes: readonly string[];
  readonly streams: readonly string[];
  readonly capabilities: readonly string[];
  readonly contributions: readonly string[];
  readonly services: readonly string[];
  /** Whether the host ends when the plugin cannot be brought back. */
  readonly required: boolean;
  /**
   * Faults since the host started, by place (`FaultPlace` of `#kit/owner`), such as `route`, `tap` or `timer`.
   */
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
  /** The class of expected failures, for plugins that import nothing. */
  readonly Problem: typeof Problem;
  /** zod of the host, for plugins without imports; schemas must come from it. */
  readonly z: Zod;

  /**
   * Registers an HTTP route. Throws an Error when another route takes the same requests, as those of the product do,
   * unless `dumb.plugins.override` names this plugin.
   */
  route<
    Query extends z.ZodType = z.ZodType,
    Body extends z.ZodType = z.ZodType,
    Response extends z.ZodType = z.ZodType,
  >(route: Route<Query, Body, Response>): void;
  /** Registers a WebSocket stream. Throws an Error when another stream has the same path. */
  stream(stream: Stream): void;

  /** Adds a value to the list of a point under a key that is unique within the point. */
  contribute<Point extends keyof Contributions>(point: Point, key: string, value: Contributions[Point]): void;
  /**
   * Makes this plugin the owner of a point. Contributions that were made before or after must fit its schema; one that
   * does not fails its contributor with a message.
   */
  point<Point extends keyof Contributions>(point: Point, options: PointOptions): ContributionList<Contributions[Point]>;
  /** The live list of a point, in order of registration; each function of a value runs as its contributor's. */
  contributions<Point extends keyof Contributions>(point: Point): ContributionList<Contributions[Point]>;
  /** Provides a service. Each function of it, and each that these return, runs as this plugin's. */
  provide<Name extends keyof Services>(name: Name, service: Services[Name], options?: ProvideOptions): void;
  /**
   * The present implementation. Throws a Problem 503 when nothing provides it. Call it at each use instead of keeping
   * the result, because plugins can be reloaded.
   */
  use<Name extends keyof Services>(name: Name): Services[Name];
  /** Same as `use`, but undefined when nothing provides the service. */
  find<Name extends keyof Services>(name: Name): Services[Name] | undefined;
  /**
   * The plugin whose call a function of a service or a contribution answers, so that what is kept for it can end with
   * it. Read it before anything is awaited. Null for calls of the host and of this plugin itself.
   */
  readonly caller: PluginCaller | null;

  /** Creates a hook that this plugin owns and calls. Taps that others registered before are attached to it. */
  hook<Name extends keyof Hooks>(name: Name, kind: HookKind, options?: HookOptions): Hooks[Name];
  /** Calls `fn` each time the owner of the hook calls the hook, also when that owner is set up later. */
  tap<Name extends keyof Hooks>(name: Name, fn: HookTap<Name>, options?: TapOptions): void;

  /** Declares a type of event that this plugin owns and alone emits. */
  event<Type extends EventType>(type: Type, declaration: EventDeclaration): void;
  /**
   * Tells every listener, later and without waiting for any. `data` is plain data and becomes unchangeable. Throws when
   * JSON cannot hold it, or this plugin has not declared the type; does nothing once it is disposed of.
   */
  emit<Type extends EventType>(type: Type, data: Events[Type], options?: EmitOptions): void;
  /**
   * Calls back for each event of the type, in order; once it is loaded anew, for those that were emitted meanwhile.
   * What the listener throws is counted against this plugin.
   */
  on<Type extends EventType>(type: Type, listener: (event: HostEvent<Type>) => void | Promise<void>): Disposer;
  /** Calls back for each event of every type. */
  on(type: '*', listener: (event: AnyEvent) => void | Promise<void>): Disposer;
  /** Every type of event that a ready plugin has declared, sorted. */
  events(): readonly EventListing[];

  /** Declares a capability flag that is not tied to a route. The predicate is evaluated at each listing. */
  capability(flag: string, predicate: () => boolean): void;
  /** Every flag of every ready plugin, sorted by name. */
  capabilities(): Readonly<Record<string, boolean>>;
  /** A report on every plugin that was found, whatever its state. */
  plugins(): readonly PluginReport[];
  /** The reports of required plugins that are not ready, which the host is setting up again. */
  missingPlugins(): readonly PluginReport[];
  /** The API description of everything registered now. */
  openapi(): Record<string, unknown>;

  /**
   * Runs `fn` repeatedly, from `host.ready` on, `ms` milliseconds after its previous run ended. A run that fails is
   * counted and doubles the pause (of 10 ms at least), up to 32 times.
   */
  every(ms: number, fn: () => void | Promise<void>): Disposer;
  /**
   * Scales a waiting time of the product, such as an observation period or a poll interval, by the pace of this host:
   * `ms` as shipped, less in a host that a test runs faster. Do not use it for deadlines, which guard against slowness.
   */
  paced(ms: number): number;
  /**
   * Runs `fn` at the times of a cron expression (croner), from `host.ready` on. Throws when it cannot be understood.
   */
  cron(expression: string, fn: () => void | Promise<void>, options?: ScheduleOptions): Schedule;
  /**
   * Declares background work of one kind; `kind` is unique within the plugin. Resolves when the records of earlier
   * hosts are read, so await it in `setup`. Rejects when other users could write to the records. Jobs that are to
   * continue start from `host.ready` on.
   */
  jobs<Input extends z.ZodType = z.ZodType, Result = unknown>(
    kind: string,
    options: JobKind<Input, Result>,
  ): Promise<Jobs<Input, Result>>;
  /**
   * A SQLite database of this plugin in its own thread; `name` is that of its file. Nothing is opened before the first
   * call. `Module` is the type of the module of statements, `typeof import('./history-statements.ts')`.
   */
  database<Module extends object>(name: string, options: DatabaseOptions): Database<Module>;
  /** HTTP with limits of time, size and redirects. Rejects with an Error that names the server. */
  fetch(url: string, options: FetchOptions & { stream: true }): Promise<FetchStream>;
  fetch(url: string, options?: FetchOptions): Promise<FetchAnswer>;

  /** Stops the whole host, as SIGTERM does. */
  stop(): void;
  /**
   * Reads the configuration again and rotates the logs, as SIGHUP does; does nothing while the host starts or stops.
   * The log tells who asked.
   */
  reload(by: string): Promise<void>;
  /**
   * Why the host is stopping: `request` after a signal or a call of `stop`, `fault` after a failure of its own; null
   * while it runs. A plugin that is disposed while this is null is being reloaded or removed.
   */
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
  /** Schema of the values. It only checks them: members that it does not name are kept. */
  readonly schema: z.ZodType;
  /** How long a promised result of a value's functions is awaited. Default 10 s. */
  readonly deadlineMs?: number;
  /**
   * Schemas for the results of the value's members. Any other result is a fault of the contributor and an error for the
   * caller.
   */
  readonly answers?: Readonly<Record<string, z.ZodType>>;
  /** Functions of the value whose results are used at once: a promise from one of them is a fault. */
  readonly immediate?: readonly string[];
  /**
   * Whether an error is an expected result of the functions, which is counted but reported by the caller only. Default
   * false.
   */
  readonly mayFail?: boolean;
  /**
   * Capability flags that a value stands for, as its contributor's, for values that are contributed once the point has
   * its owner. A flag that another plugin has already is left out with a warning.
   */
  readonly flags?: (value: unknown) => Readonly<Record<string, boolean>>;
}

export interface PluginCaller {
  readonly plugin: string;
  /** Aborts when the plugin was taken down and its disposers have ended. */
  readonly gone: AbortSignal;
}

export interface ProvideOptions {
  /** How long a promised result of its functions is awaited. Default 60 s. */
  readonly deadlineMs?: number;
  /** Deadlines of single functions, by name; Infinity for those whose callers set a limit. */
  readonly deadlinesMs?: Readonly<Record<string, number>>;
  /** See `PointOptions`. */
  readonly mayFail?: boolean;
}

export type HookKind = 'series' | 'parallel' | 'waterfall';

export interface HookOptions {
  /**
   * Whether a tap that throws is counted against its plugin while the call goes on. False makes such a tap fail the
   * whole call, as a veto. Default true.
   */
  readonly guarded?: boolean;
  /**
   * How long each tap may take. A late tap is reported and no longer awaited, and fails the call where taps can veto.
   * Default 10 s.
   */
  readonly deadlineMs?: number;
  /** Schema that the value of a waterfall must fit after each tap. */
  readonly schema?: z.ZodType;
}

export interface TapOptions {
  /** Order among the taps of a hook: the lower one runs first. Default 0. */
  readonly stage?: number;
  /** How long this tap may take, instead of the hook's own deadline. */
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
