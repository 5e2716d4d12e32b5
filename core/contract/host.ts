// The `host` object that a plugin's `setup` receives: the only way in which a plugin reaches the host.
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
  /** Faults since the host started, by place (`FaultPlace` of `#kit/owner`), such as `route`, `tap` or `timer`. */
  readonly errors: Readonly<Record<string, number>>;
}

/** Everything that a plugin can use of the host. What a plugin registers here is withdrawn when it is disposed of. */
export interface Host {
  /** The plugin's own name. */
  readonly name: string;
  /** The product's version. */
  readonly version: string;
  /** Aborts when the plugin is disposed of. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly paths: Paths;
  /** The class of errors that a user can cause and fix, for plugins that import nothing. */
  readonly Problem: typeof Problem;
  /** The host's zod, for plugins that import nothing. All schemas must be made with it. */
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

  /** Adds a value to the list of a point, under a key. Throws an Error when the point has that key already. */
  contribute<Point extends keyof Contributions>(point: Point, key: string, value: Contributions[Point]): void;
  /**
   * Makes this plugin the owner of a point. Every contribution, made before or after, must fit the schema; one that
   * does not fit makes the plugin that contributed it fail.
   */
  point<Point extends keyof Contributions>(point: Point, options: PointOptions): ContributionList<Contributions[Point]>;
  /** The live list of a point, in order of registration. Each function of a value runs as its contributor's code. */
  contributions<Point extends keyof Contributions>(point: Point): ContributionList<Contributions[Point]>;
  /** Provides a service. Its functions, and functions that they return, run as this plugin's code. */
  provide<Name extends keyof Services>(name: Name, service: Services[Name], options?: ProvideOptions): void;
  /**
   * The present implementation of a service. Throws a Problem 503 when no plugin provides it. Call this at each use
   * instead of keeping the result, because plugins can be reloaded.
   */
  use<Name extends keyof Services>(name: Name): Services[Name];
  /** Same as `use`, but undefined when no plugin provides the service. */
  find<Name extends keyof Services>(name: Name): Services[Name] | undefined;
  /**
   * The plugin that called the function of a service or contribution that is running now, so that what is kept for that
   * plugin can end with it. Read this before the first `await`. null for calls by the host and by this plugin itself.
   */
  readonly caller: PluginCaller | null;

  /** Creates a hook that this plugin owns and calls. Taps that other plugins registered before are attached to it. */
  hook<Name extends keyof Hooks>(name: Name, kind: HookKind, options?: HookOptions): Hooks[Name];
  /** Calls `fn` each time the owner of the hook calls the hook; the owner may be set up later. */
  tap<Name extends keyof Hooks>(name: Name, fn: HookTap<Name>, options?: TapOptions): void;

  /** Declares a type of event that only this plugin emits. */
  event<Type extends EventType>(type: Type, declaration: EventDeclaration): void;
  /**
   * Emits an event. Listeners run later, and nothing waits for them. `data` is plain data, and is frozen. Throws an
   * Error when JSON cannot hold the data, or this plugin has not declared the type; does nothing once this plugin is
   * disposed of.
   */
  emit<Type extends EventType>(type: Type, data: Events[Type], options?: EmitOptions): void;
  /**
   * Calls the listener for each event of the type, in order. Events that are emitted while this plugin is reloaded are
   * delivered afterwards. An error that the listener throws is counted against this plugin.
   */
  on<Type extends EventType>(type: Type, listener: (event: HostEvent<Type>) => void | Promise<void>): Disposer;
  /** Calls the listener for each event of every type. */
  on(type: '*', listener: (event: AnyEvent) => void | Promise<void>): Disposer;
  /** Every type of event that a ready plugin has declared, sorted. */
  events(): readonly EventListing[];

  /** Declares a capability flag that is not tied to a route. The predicate is called at each listing. */
  capability(flag: string, predicate: () => boolean): void;
  /** Every flag of every ready plugin, sorted by name. */
  capabilities(): Readonly<Record<string, boolean>>;
  /** A report on every plugin that was found, whatever its state. */
  plugins(): readonly PluginReport[];
  /** The reports of required plugins that are not ready, and which the host tries to set up again. */
  missingPlugins(): readonly PluginReport[];
  /** The API description of everything registered now. */
  openapi(): Record<string, unknown>;

  /**
   * Runs `fn` repeatedly, from `host.ready` on, `ms` milliseconds after its previous run ended. Each failed run in a
   * row is counted as a fault and doubles the pause, which is then at least 10 ms, up to 32 times `ms`.
   */
  every(ms: number, fn: () => void | Promise<void>): Disposer;
  /**
   * Scales a waiting time of the product, such as an observation period or a poll interval, by the pace of this host.
   * Returns `ms` unless a test runs the host faster. Do not use it for deadlines, which guard against slowness.
   */
  paced(ms: number): number;
  /**
   * Runs `fn` at the times of a cron expression (croner), from `host.ready` on. Throws when it cannot be understood.
   */
  cron(expression: string, fn: () => void | Promise<void>, options?: ScheduleOptions): Schedule;
  /**
   * Declares background work of one kind; `kind` is unique within the plugin. Resolves when the records of earlier
   * hosts are read, so await it in `setup`. Rejects with an Error when other users could write to the records. Jobs
   * that resume start from `host.ready` on.
   */
  jobs<Input extends z.ZodType = z.ZodType, Result = unknown>(
    kind: string,
    options: JobKind<Input, Result>,
  ): Promise<Jobs<Input, Result>>;
  /**
   * A SQLite database of this plugin in its own thread; its file is named after `name`. The file is opened by the first
   * call. `Module` is the type of the module of statements, for example `typeof import('./history-statements.ts')`.
   */
  database<Module extends object>(name: string, options: DatabaseOptions): Database<Module>;
  /** HTTP with limits of time, size and redirects. Rejects with an Error that names the server. */
  fetch(url: string, options: FetchOptions & { stream: true }): Promise<FetchStream>;
  fetch(url: string, options?: FetchOptions): Promise<FetchAnswer>;

  /** Stops the whole host, as SIGTERM does. */
  stop(): void;
  /**
   * Reads the configuration again and rotates the logs, as SIGHUP does. A call during the start takes effect once the
   * host is ready; a call during a stop has no effect. `by` says in the log who asked.
   */
  reload(by: string): Promise<void>;
  /**
   * Why the host is stopping: `request` after a signal or a call of `stop`, `fault` after a failure of the host itself.
   * null while the host runs. A plugin that is disposed of while this is null is being reloaded or removed.
   */
  readonly stopping: 'request' | 'fault' | null;
}

export interface Contribution<Value> {
  /** Name of the plugin that contributed the value. */
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
  /**
   * Schema of the values. It only checks them: members that it does not name are kept, except those of plain objects
   * that are probably misspelt names of members which are missing. They make the contributor fail.
   */
  readonly schema: z.ZodType;
  /** Deadline for the promises that a value's functions return. Default 10 s. */
  readonly deadlineMs?: number;
  /**
   * Schemas for the results of the value's functions, by name. A result that does not fit is a fault of the contributor
   * and an error for the caller.
   */
  readonly answers?: Readonly<Record<string, z.ZodType>>;
  /** Names of functions that must return their results at once: a promise from one of them is a fault. */
  readonly immediate?: readonly string[];
  /**
   * Whether the functions are expected to fail at times. Their errors are counted, but the host does not log them: the
   * caller reports them. Default false.
   */
  readonly mayFail?: boolean;
  /**
   * Returns the capability flags that a value declares for its contributor. Applies to values that are contributed
   * after the point has got its owner. A flag that another plugin has already is left out with a warning.
   */
  readonly flags?: (value: unknown) => Readonly<Record<string, boolean>>;
}

export interface PluginCaller {
  readonly plugin: string;
  /** Aborts when the plugin is disposed of and all its disposers have run. */
  readonly gone: AbortSignal;
}

export interface ProvideOptions {
  /** Deadline for the promises that the service's functions return. Default 60 s. */
  readonly deadlineMs?: number;
  /** Deadlines of single functions, by name; Infinity for functions whose callers set a limit. */
  readonly deadlinesMs?: Readonly<Record<string, number>>;
  /** See `PointOptions`. */
  readonly mayFail?: boolean;
}

export type HookKind = 'series' | 'parallel' | 'waterfall';

export interface HookOptions {
  /**
   * Whether the call goes on when a tap throws, and the error is only counted against the tap's plugin. With false a
   * tap that throws fails the whole call, as a veto. Default true.
   */
  readonly guarded?: boolean;
  /**
   * How long each tap may take. A late tap is reported and no longer awaited; where `guarded` is false, it fails the
   * call. Default 10 s.
   */
  readonly deadlineMs?: number;
  /** Schema that the value of a waterfall hook must fit after each tap. */
  readonly schema?: z.ZodType;
}

export interface TapOptions {
  /** Order among the taps of a hook: taps with a lower stage run first. Default 0. */
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
