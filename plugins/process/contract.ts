// What the process plugin offers to others: hooks, contributions and the supervisor service.

import type { AsyncParallelHook, AsyncSeriesWaterfallHook } from 'tapable';
import type { NamedBlock } from '#core';
import type { ChainLink } from './boot/boot-timeline.ts';

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

export type StartTrigger = 'boot' | 'request' | 'auto-restart' | 'restart';

export type ProcessEventType =
  | 'service_start'
  | 'service_stop'
  | 'service.start.failed'
  | 'service.stopped.unexpectedly'
  | 'service.unhealthy'
  | 'service.auto_restart.attempt'
  | 'service.auto_restart.succeeded'
  | 'service.auto_restart.failed'
  | 'service.auto_restart.suppressed'
  | 'dumb.startup.ready'
  | 'dumb.startup.degraded';

export interface ProcessEvent {
  readonly type: ProcessEventType;
  readonly processName: string | null;
  /** Unix seconds. */
  readonly at: number;
  /** One redacted line, or null. */
  readonly reason: string | null;
}

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
  /** Stopped by a user; auto-restart leaves it alone until the next manual start. */
  readonly stoppedByUser: boolean;
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

export interface ProcessSupervisor {
  list(): readonly ProcessSnapshot[];
  /** undefined: no such process. */
  get(processName: string): ProcessSnapshot | undefined;
  start(processName: string, trigger: StartTrigger): Promise<StartOutcome>;
  stop(processName: string): Promise<'stopped' | 'not-running' | 'already-stopping'>;
  restart(processName: string, trigger: StartTrigger): Promise<void>;
  /** Cached, at most one interval old. */
  health(processName: string): HealthReport;
  startup(): StartupReport;
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

/** What is asked of a process of one config key after its ports accept. */
export type ProcessProbe = { readonly configKey: string } & (HttpProbe | CustomProbe);

/** What its answer must hold to be the application's own. */
interface ExpectedAnswer {
  /** The body must hold this text. */
  readonly marker?: string | undefined;
  /** The JSON body must have this key. */
  readonly jsonKey?: string | undefined;
}

export interface HttpProbe extends ExpectedAnswer {
  readonly path: string;
  /** Key of the block that holds its port. Default `port`. */
  readonly portKey?: string | undefined;
}

/** An address on this machine. */
export interface HealthAddress extends ExpectedAnswer {
  readonly path: string;
  readonly port: number;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface CustomProbe {
  /** Ends within a few seconds; undefined: there is nothing to ask. `ask` understands an answer as of any other. */
  readonly check: (
    block: NamedBlock,
    ask: (address: HealthAddress) => Promise<HealthReport>,
  ) => Promise<HealthReport | undefined>;
}

/** Defaults of the stop policy of one config key. */
export interface StopPolicy {
  readonly configKey: string;
  readonly signal?: 'SIGTERM' | 'SIGINT' | 'SIGQUIT';
  readonly graceMs?: number;
  /** Tier of the ordered shutdown: lower stops first. */
  readonly tier?: number;
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

declare module '#core' {
  interface Contributions {
    'process.probe': ProcessProbe;
    'process.stop-policy': StopPolicy;
    'process.dependencies': BootDependencies;
  }
  interface Services {
    'process.supervisor': ProcessSupervisor;
  }
  interface Hooks {
    /** Before ports, waits and launch of every start. A throw vetoes the start. */
    'process.prepare': AsyncSeriesWaterfallHook<[LaunchPlan]>;
    'process.started': AsyncParallelHook<[ProcessSnapshot]>;
    'process.exited': AsyncParallelHook<[ProcessSnapshot, ExitRecord]>;
    /** After each change of a status. */
    'process.status': AsyncParallelHook<[ProcessSnapshot]>;
    'process.event': AsyncParallelHook<[ProcessEvent]>;
  }
}
