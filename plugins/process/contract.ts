// What process control offers to others: the supervisor, its hooks and events, and what plugins add to it.

import type { AsyncParallelHook, AsyncSeriesWaterfallHook } from 'tapable';
import type { z } from 'zod';
import type { NamedBlock } from '#core';

export type ProcessStatus = 'running' | 'stopped' | 'starting' | 'stopping' | 'unknown';
export type HealthStatus = 'healthy' | 'degraded' | 'starting' | 'unhealthy';
export type StartupPhase =
  | 'initializing'
  | 'preinstalling'
  | 'starting_services'
  | 'stabilizing'
  | 'ready'
  | 'degraded'
  | 'shutting_down';

/** Everything a launch needs; taps of `process.prepare` change it, or throw to veto the start. */
export interface LaunchPlan {
  readonly processName: string;
  readonly configKey: string;
  readonly block: Readonly<Record<string, unknown>>;
  /** Why it is started. */
  readonly trigger: StartTrigger;
  /** Fires when the start is cancelled. */
  readonly signal: AbortSignal;
  argv: string[];
  cwd: string | undefined;
  env: Record<string, string>;
  /** null: the controller's own identity. */
  user: { uid: number; gid: number } | null;
  /** Waited for besides what the block itself names. */
  readonly waits: { mounts: string[]; urls: (string | AuthorizedUrl)[] };
}

export interface AuthorizedUrl {
  readonly url: string;
  readonly auth: { readonly user: string; readonly password: string };
}

/** `request` and `restart` are a user's word, or that of a plugin that speaks for one: the process is wanted from then on. */
export type StartTrigger = 'boot' | 'request' | 'auto-restart' | 'restart' | 'hold';

export interface ExitRecord {
  readonly code: number | null;
  readonly signal: string | null;
  /** `Exited with code 1`, `Killed by signal SIGKILL (possibly out of memory)` ... */
  readonly reason: string;
  /** Unix seconds. */
  readonly at: number;
  /** false when a stop was asked for. */
  readonly unexpected: boolean;
}

/** What somebody last said about a process: it wins over `enabled` until everything is stopped in order. */
export interface WantedState {
  readonly state: 'running' | 'stopped';
  /** Name of the user or the plugin. */
  readonly by: string;
  /** Unix seconds. */
  readonly at: number;
}

/** Why nobody but its holder may start, stop or restart a process. */
export interface ProcessHold {
  readonly reason: string;
  /** Unix seconds. */
  readonly since: number;
}

/** The live state of one configured process. */
export interface ProcessSnapshot {
  readonly processName: string;
  readonly configKey: string;
  /** This host itself, which runs as long as anybody can ask. */
  readonly isHost: boolean;
  readonly status: ProcessStatus;
  readonly pid: number | null;
  readonly pgid: number | null;
  /** Unix seconds of the launch. */
  readonly startedAt: number | null;
  /** Monotonic milliseconds of the launch. */
  readonly startedMonotonicMs: number | null;
  /** What a start is waiting for. */
  readonly waitingFor: readonly string[];
  readonly lastFailureReason: string | null;
  readonly lastExit: ExitRecord | null;
  /** Enabled by the configuration, or started by hand since. */
  readonly enabled: boolean;
  /** The same object until somebody says something else; null: nobody has, so `enabled` decides. */
  readonly wanted: WantedState | null;
  /** Stopped by a user; nobody starts it by itself until the next start by hand. */
  readonly stoppedByUser: boolean;
  /** Whether it has been ready since it is wanted. */
  readonly wasReady: boolean;
  readonly held: ProcessHold | null;
  /** Adopted while its configuration changed. */
  readonly restartRequired: boolean;
  readonly adopted: boolean;
}

export interface HealthReport {
  readonly status: HealthStatus | null;
  readonly healthy: boolean | null;
  readonly reason: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;
}

export interface StartOutcome {
  readonly status: 'started' | 'already-running' | 'waiting';
  readonly waitingFor: readonly string[];
}

export type StopOutcome = 'stopped' | 'not-running' | 'already-stopping';

/** What the work of a hold may do with its process. Refuses with a Problem 409 once the hold has ended. */
export interface HeldProcess {
  /** Fires when the hold ends before its work does: at its deadline, or with whoever asked for it. */
  readonly signal: AbortSignal;
  snapshot(): ProcessSnapshot;
  start(): Promise<StartOutcome>;
  stop(): Promise<StopOutcome>;
}

export interface HoldOptions {
  /** Ends the hold: the `host.signal` of the plugin that asks for it. */
  readonly signal?: AbortSignal;
  /** Longest duration of the hold. Default one hour. */
  readonly deadlineMs?: number;
}

export interface ProcessSupervisor {
  list(): readonly ProcessSnapshot[];
  /** undefined: no such process. */
  get(processName: string): ProcessSnapshot | undefined;
  /** The named blocks of the configuration; `enabled` is true also of what was started by hand. Replaced when it changes. */
  blocks(): readonly NamedBlock[];
  /** `by`: name of the user or the plugin that asks. */
  start(processName: string, trigger: StartTrigger, by?: string): Promise<StartOutcome>;
  stop(processName: string, by?: string): Promise<StopOutcome>;
  restart(processName: string, trigger: StartTrigger, by?: string): Promise<void>;
  /**
   * Keeps the process from being started, stopped or restarted by anybody but `work`: others get a Problem 409 with the
   * reason, what happens by itself waits. An operation that is under way is waited for. Ends with the work, and rejects
   * when its signal or its deadline ends it before. A Problem 409 when it is held already.
   */
  hold<Value>(
    processName: string,
    reason: string,
    work: (held: HeldProcess) => Promise<Value>,
    options?: HoldOptions,
  ): Promise<Value>;
  /** Resolves when nobody holds the process. */
  released(processName: string): Promise<void>;
  /** Cached, at most one interval old. */
  health(processName: string): HealthReport;
  /** As `health`, but a running process without an answer yet is asked first, for at most `limitMs`. */
  freshHealth(processName: string, limitMs: number): Promise<HealthReport>;
  /** Listening ports that the block of a process configures, by key. */
  ports(processName: string): ReadonlyMap<string, number>;
  startup(): StartupReport;
  /** Monotonic milliseconds since when processes are watched; null before the boot has reached a terminal phase. */
  readonly settledMs: number | null;
  /** Another number after each change of a snapshot. */
  readonly revision: number;
}

export interface StartupReport {
  readonly phase: StartupPhase;
  readonly terminal: boolean;
  readonly startedAt: number;
  readonly completedAt: number | null;
  readonly expectedServices: readonly string[];
  readonly services: Readonly<Record<string, StartupService>>;
  readonly failures: Readonly<Record<string, string>>;
  /** Who waited for whom, up to the service that was up last. */
  readonly criticalChain: readonly ChainLink[];
}

export interface StartupService {
  readonly state: 'pending' | 'starting' | 'ready' | 'failed';
  readonly reason: string | null;
}

export interface ChainLink {
  readonly processName: string;
  /** The last of its dependencies to become ready; null for the first link. */
  readonly waitedFor: string | null;
  /** From the beginning of the boot until it could be started. */
  readonly waitedMs: number;
  /** From then until it was up, or its failure was final. */
  readonly startMs: number;
}

/** Defaults of the stop policy of one config key. */
export interface StopPolicy {
  readonly configKey: string;
  readonly signal?: 'SIGTERM' | 'SIGINT' | 'SIGQUIT';
  readonly graceMs?: number;
  /** Tier of the ordered shutdown: lower stops first. */
  readonly tier?: number;
}

/** How processes of one config key are launched. */
export interface LaunchPolicy {
  readonly configKey: string;
  /** Runs with the rights of the host itself, not as the service user. */
  readonly asController?: boolean;
  /** A boot starts it before all others, and only where a command is configured for it. */
  readonly bootsFirst?: boolean;
}

/** Values for `{name}` in the command and the variables of a block, where neither the block nor the whole has the name. */
export interface LaunchPlaceholders {
  values(block: NamedBlock): Readonly<Record<string, unknown>>;
}

/** A process that does the work of a configured one although no host of ours has launched it. */
export interface Survivor {
  readonly pid: number;
  /** Unix seconds. */
  readonly startedAt: number;
}

/** Looks for what already runs on the data of processes of one config key, so that it is adopted and not started twice. */
export interface SurvivorSearch {
  readonly configKey: string;
  /**
   * null: nothing runs there. Throws a Problem when it cannot be told which process it is: the boot does not start it
   * then. `workingIn` lists the living processes whose working directory that is.
   */
  find(
    block: NamedBlock,
    workingIn: (directory: string) => readonly { readonly pid: number; readonly parentPid: number }[],
  ): Promise<Survivor | null>;
}

/** In which order enabled processes are started; without one, what their waits name decides. */
export interface BootDependencies {
  startOrder(): Promise<{
    /** Processes that each process starts after. Free of cycles. */
    readonly needs: ReadonlyMap<string, ReadonlySet<string>>;
    /** Members of each cycle that was broken. */
    readonly cycles: readonly (readonly string[])[];
  }>;
}

type Members = Readonly<Record<string, unknown>>;

/** Members, in wire form, that a plugin adds to every entry of `/process/processes`, and to `/process`. */
export interface EntryMembers {
  /** Of the members, each of which may be left out: answers are checked against it, and the API description shows it. */
  readonly schema?: z.ZodObject;
  members(block: NamedBlock): Members;
  /**
   * Another value whenever `members` would answer otherwise although neither the configuration nor a status changed.
   * Answers are kept until then; without it the members are asked for each answer.
   */
  readonly revision?: () => unknown;
}

/** Members, in wire form, that a plugin adds to the answer of `/process`. */
export interface DetailMembers {
  readonly schema?: z.ZodObject;
  /** `scope`: as the client sent it. Left out of the answer when it takes longer than three seconds. */
  members(block: NamedBlock, request: { readonly scope: string | undefined }): Members | Promise<Members>;
}

declare module '#core' {
  interface Contributions {
    /** Members of every entry of the list of processes. */
    'process.entry': EntryMembers;
    /** Members of the answer about one process. */
    'process.detail': DetailMembers;
    /** How processes of one kind are stopped. */
    'process.stop-policy': StopPolicy;
    'process.launch-policy': LaunchPolicy;
    'process.placeholders': LaunchPlaceholders;
    'process.survivor': SurvivorSearch;
    /** The order of starting and stopping; the first one counts. */
    'process.dependencies': BootDependencies;
  }
  interface Services {
    /** Lists, starts, stops and holds the processes of the configuration. */
    'process.supervisor': ProcessSupervisor;
  }
  interface Hooks {
    /** Before ports, waits and launch of every start. A throw vetoes the start. */
    'process.prepare': AsyncSeriesWaterfallHook<[LaunchPlan]>;
    /** After a launch that has lived through its observation. */
    'process.started': AsyncParallelHook<[ProcessSnapshot]>;
    /** After a run ended, asked for or not, and its output was read to the end. */
    'process.exited': AsyncParallelHook<[ProcessSnapshot, ExitRecord]>;
    /** After each change of a snapshot. */
    'process.status': AsyncParallelHook<[ProcessSnapshot]>;
  }
  interface Events {
    /** A process was started and lives. */
    service_start: { readonly processName: string; readonly trigger: StartTrigger };
    /** A process was stopped on request. */
    service_stop: { readonly processName: string };
    /** A process could not be started, or did not stay alive. */
    'service.start.failed': { readonly processName: string; readonly reason: string };
    /** A process ended although nobody had asked for it. */
    'service.stopped.unexpectedly': {
      readonly processName: string;
      readonly reason: string;
      readonly exitCode: number | null;
      readonly signal: string | null;
    };
    /** The boot is over, and every service that was expected is ready. */
    'dumb.startup.ready': Readonly<Record<never, never>>;
    /** The boot is over, and some services are not ready. `failures`: reasons by process name. */
    'dumb.startup.degraded': { readonly failures: Readonly<Record<string, string>> };
  }
}
