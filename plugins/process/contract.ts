// What process control offers to other plugins: the supervisor, its hooks, points and events.
import type { FileHandle } from 'node:fs/promises';
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

/** Everything that a launch needs. Taps of `process.prepare` change it, or throw to veto the start. */
export interface LaunchPlan {
  readonly processName: string;
  readonly configKey: string;
  readonly block: Readonly<Record<string, unknown>>;
  /** The cause of the start. */
  readonly trigger: StartTrigger;
  /** Aborts when the start is cancelled. */
  readonly signal: AbortSignal;
  argv: string[];
  cwd: string | undefined;
  env: Record<string, string>;
  /** Names of variables that a user gives outside of the block, as in files. They win over those of a template. */
  readonly givenEnv: Set<string>;
  /** null for the host's own user. */
  user: { uid: number; gid: number } | null;
  /** Shows what the start waits for; null when it goes on. Waits do not delay the starts of other processes. */
  showWait(what: string | null): void;
  /** `mounts` and `urls` are waited for in addition to those of the block; `tcp` begins as the block's own list. */
  readonly waits: { mounts: string[]; urls: (string | UrlAddress)[]; tcp: TcpAddress[] };
}

/** An entry of `wait_for_tcp`. */
export interface TcpAddress {
  readonly name?: string;
  readonly host?: string;
  readonly port: number;
  /** Seconds for one attempt. */
  readonly timeout?: number;
}

/** An entry of `wait_for_url`. */
export interface UrlAddress {
  readonly url: string;
  readonly auth?: { readonly user: string; readonly password: string };
  readonly expected_json_path?: string;
}

/**
 * `request` and `restart` come from a user, or from a plugin on a user's behalf, and make the process wanted; `config`
 * is a change of the configuration file that enables it; `install` makes up for a start of the boot whose program was
 * missing.
 */
export type StartTrigger = 'boot' | 'config' | 'schedule' | 'request' | 'auto-restart' | 'restart' | 'hold' | 'install';

/**
 * Why a process was stopped: `config` is a change of the configuration file that disables or removes it, `hold` the
 * work that holds it, `restart` a restart, whose cause is the trigger of the start that follows.
 */
export type StopTrigger = 'request' | 'config' | 'hold' | 'restart' | 'shutdown';

export interface ExitRecord {
  readonly code: number | null;
  readonly signal: string | null;
  /** For example `Exited with code 1` or `Killed by signal SIGKILL (possibly out of memory)`. */
  readonly reason: string;
  /** Unix seconds. */
  readonly at: number;
  /** Whether a stop was requested, whatever the code: many programs end with 0 then. */
  readonly asked: boolean;
  /** false when a stop was requested, or a one-shot service has done its work. */
  readonly unexpected: boolean;
}

/** Whether a user or a plugin last started or stopped a process. It wins over `enabled` until an ordered shutdown. */
export interface WantedState {
  readonly state: 'running' | 'stopped';
  /** Name of the user or the plugin. */
  readonly by: string;
  /** Unix seconds. */
  readonly at: number;
}

/** A hold, during which only its holder may start, stop or restart the process. */
export interface ProcessHold {
  readonly reason: string;
  /** Unix seconds. */
  readonly since: number;
}

/** The current state of one configured process. */
export interface ProcessSnapshot {
  readonly processName: string;
  readonly configKey: string;
  /** True for the entry of this host itself, which always runs. */
  readonly isHost: boolean;
  readonly status: ProcessStatus;
  readonly pid: number | null;
  readonly pgid: number | null;
  /** Unix seconds of the launch by the present system clock, so that the value shifts when the clock is set. */
  readonly startedAt: number | null;
  /** Monotonic milliseconds of the launch. */
  readonly startedMonotonicMs: number | null;
  /** Names of what a start is waiting for. */
  readonly waitingFor: readonly string[];
  readonly lastFailureReason: string | null;
  readonly lastExit: ExitRecord | null;
  /** Enabled in the configuration, or started by hand since. */
  readonly enabled: boolean;
  /**
   * The same object until the process is started or stopped by hand again; null when it never was, and `enabled`
   * decides.
   */
  readonly wanted: WantedState | null;
  /** Stopped by a user, so that only a start by hand starts it again. */
  readonly stoppedByUser: boolean;
  /** Whether it has been ready since it became wanted. */
  readonly wasReady: boolean;
  /**
   * Whether the last run of a one-shot service ended by itself with exit code 0; null for a service that is to keep
   * running.
   */
  readonly completed: boolean | null;
  readonly held: ProcessHold | null;
  /** Whether the configuration changed between the launch and the adoption of the process. */
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
  readonly status: 'started' | 'already-running';
}

export type StopOutcome = 'stopped' | 'not-running' | 'already-stopping';

/** A program with these environment variables is ended with the run, also by a host that has adopted the run. */
export interface RunShare {
  readonly variables: Readonly<Record<string, string>>;
  /**
   * Opens a file: what the program writes to it counts as output of the process. The caller starts the program at once,
   * and closes the file. Throws a Problem 409 when the run has ended or is being stopped.
   */
  openOutput(): Promise<FileHandle>;
}

/** What the work of a hold can do with its process. Throws a Problem 409 once the hold has ended. */
export interface HeldProcess {
  /** Aborts when the hold ends before its work: at its deadline, with its signal, or with the plugin that took it. */
  readonly signal: AbortSignal;
  snapshot(): ProcessSnapshot;
  start(): Promise<StartOutcome>;
  stop(): Promise<StopOutcome>;
}

export interface HoldOptions {
  /**
   * Aborting it ends the hold. Without it the hold ends once its plugin has been taken down and the plugin's disposers
   * have ended.
   */
  readonly signal?: AbortSignal;
  /** Longest duration of the hold in milliseconds. Default one hour. */
  readonly deadlineMs?: number;
}

export interface StopOptions {
  /**
   * Whether a start of the process follows; where the host ends before that, the next one starts it. Default: false.
   */
  readonly isRestarted?: boolean;
}

export interface ProcessSupervisor {
  list(): readonly ProcessSnapshot[];
  /** undefined when there is no such process. */
  get(processName: string): ProcessSnapshot | undefined;
  /**
   * The named blocks of the configuration; `enabled` is also true for processes started by hand. A new array after each
   * change.
   */
  blocks(): readonly NamedBlock[];
  /** `by` is the name of the user or plugin that asks for the start. */
  start(processName: string, trigger: StartTrigger, by?: string): Promise<StartOutcome>;
  stop(processName: string, by?: string, options?: StopOptions): Promise<StopOutcome>;
  restart(processName: string, trigger: StartTrigger, by?: string): Promise<void>;
  /**
   * Forgets that a process which the configuration does not enable was started by hand, and how it failed; a running
   * process goes on.
   */
  disregardStart(processName: string): Promise<void>;
  /**
   * Stops every running process before the processes that it needs, and every enabled one that does not run now, such
   * as one that waits for its restart or its schedule. `ended`, the name of a process that has ended by itself, is left
   * as it is. Throws an Error when some process could not be stopped.
   */
  stopAll(by: string, ended?: string): Promise<void>;
  /** What another program needs to become a part of the run of a process; undefined while the process does not run. */
  share(processName: string): RunShare | undefined;
  /** Writes to the standard input of a process with `stdin: true`. Throws a Problem 409 when it takes none. */
  input(processName: string, text: string): Promise<void>;
  /**
   * Prevents everybody but `work` from starting, stopping or restarting the process: requests get a Problem 409 with
   * the reason, automatic operations wait. Waits for a running operation first. The hold ends with the work; the
   * promise rejects when the signal, the deadline or the end of the plugin ends it earlier. Throws a Problem 409 when
   * the process is held already.
   */
  hold<Value>(
    processName: string,
    reason: string,
    work: (held: HeldProcess) => Promise<Value>,
    options?: HoldOptions,
  ): Promise<Value>;
  /**
   * How a block would be launched, before taps of `process.prepare` complete it; nothing is started. Throws a Problem
   * when its command cannot be read.
   */
  plan(block: NamedBlock): LaunchPlan;
  /**
   * The user to whom the files of a service belong: the one that its block names, otherwise the one of all services,
   * also where the service has the rights of the host, or cannot run as the user that is named. null when the host is
   * not root.
   */
  userOf(block: NamedBlock): LaunchPlan['user'];
  /** Resolves when the process is not held. */
  released(processName: string): Promise<void>;
  /** The cached report, at most one interval old. */
  health(processName: string): HealthReport;
  /** Same as `health`, but first probes a running process that has no report yet, for at most `limitMs`. */
  freshHealth(processName: string, limitMs: number): Promise<HealthReport>;
  /**
   * Writes lines of another program into the logs of a process, as if the process had printed them. Does nothing when
   * there is no such process.
   */
  record(processName: string, lines: readonly string[]): Promise<void>;
  /** Why output of running processes is lost at present, such as a full disk; null while it is kept. */
  readonly outputFault: string | null;
  /** Listening ports that the block of a process configures, by their keys. */
  ports(processName: string): ReadonlyMap<string, number>;
  startup(): StartupReport;
  /**
   * Monotonic milliseconds at which the boot reached a terminal phase and the watching of processes began; null before.
   */
  readonly settledMs: number | null;
  /** A number that changes with every change of a snapshot, and with the phase, services and failures of `startup`. */
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
  /** Which service waited for which, up to the one that was up last. */
  readonly criticalChain: readonly ChainLink[];
}

export interface StartupService {
  readonly state: 'pending' | 'starting' | 'ready' | 'failed';
  readonly reason: string | null;
}

export interface ChainLink {
  readonly processName: string;
  /** The dependency that became ready last; null for the first link. */
  readonly waitedFor: string | null;
  /** Milliseconds from the beginning of the boot until the process could be started. */
  readonly waitedMs: number;
  /** Milliseconds from then until the process was up or its failure was final. */
  readonly startMs: number;
}

/** Default stop behaviour of processes with one config key. */
export interface StopPolicy {
  readonly configKey: string;
  readonly signal?: 'SIGTERM' | 'SIGINT' | 'SIGQUIT';
  readonly graceMs?: number;
  /** Tier in the ordered shutdown; lower tiers stop first. */
  readonly tier?: number;
  /**
   * Whether requests to stop or restart the process are answered before it is stopped, because the answer passes
   * through it.
   */
  readonly answersFirst?: boolean;
}

/** Members of blocks that can name a port of the service itself once more. They move with that port. */
export interface OwnPorts {
  /** Their places in a block, each with the keys that lead there. */
  readonly members: readonly (readonly string[])[];
}

/** How processes with one config key are launched. */
export interface LaunchPolicy {
  readonly configKey: string;
  /**
   * Whether a block runs with the rights of the host instead of those of the service user. Anything but true is the
   * reason why it does not.
   */
  asController?(block: NamedBlock): true | string;
  /** Whether a boot starts it before all others; it then starts only when a command is configured. */
  readonly bootsFirst?: boolean;
}

/**
 * Values for `{name}` in commands and variables, used where neither the block nor the root of the configuration has the
 * name.
 */
export interface LaunchPlaceholders {
  values(block: NamedBlock): Readonly<Record<string, unknown>>;
}

/** A process that runs for a configured one although no host has recorded its launch. */
export interface Survivor {
  readonly pid: number;
}

/**
 * Finds what already uses the data of processes with one config key, so that it is adopted instead of started twice.
 */
export interface SurvivorSearch {
  readonly configKey: string;
  /**
   * null when nothing runs. Throws a Problem when something runs but the process cannot be determined; the boot then
   * does not start the configured one. `workingIn` lists the living processes with the given working directory.
   */
  find(
    block: NamedBlock,
    workingIn: (directory: string) => readonly { readonly pid: number; readonly parentPid: number }[],
  ): Promise<Survivor | null>;
}

/** The order in which enabled processes are started; without it, configured waits decide. */
export interface BootDependencies {
  startOrder(): Promise<{
    /** The processes after which each process starts; free of cycles. */
    readonly needs: ReadonlyMap<string, ReadonlySet<string>>;
    /** The members of each cycle that was broken. */
    readonly cycles: readonly (readonly string[])[];
  }>;
}

type Members = Readonly<Record<string, unknown>>;

/** Members, in wire form, that a plugin adds to every entry of `/process/processes` and to `/process`. */
export interface EntryMembers {
  /**
   * Schema of the members, all of which are optional: answers are checked against it, and the API description includes
   * it.
   */
  readonly schema?: z.ZodObject;
  members(block: NamedBlock): Members;
  /**
   * Must return a different value when `members` would give a different answer although neither the configuration nor a
   * status changed. Answers are cached until then; without it `members` is called for every answer.
   */
  readonly revision?: () => unknown;
}

/** Members, in wire form, that a plugin adds to the answer of `/process`. */
export interface DetailMembers {
  readonly schema?: z.ZodObject;
  /**
   * `scope` is the client's query parameter. The members are left out of the answer when this takes longer than three
   * seconds.
   */
  members(block: NamedBlock, request: { readonly scope: string | undefined }): Members | Promise<Members>;
}

declare module '#core' {
  interface Contributions {
    /** Members that are added to every entry of the list of processes. */
    'process.entry': EntryMembers;
    /** Members that are added to the answer about one process. */
    'process.detail': DetailMembers;
    /** How processes of one kind are stopped. */
    'process.stop-policy': StopPolicy;
    'process.own-ports': OwnPorts;
    'process.launch-policy': LaunchPolicy;
    'process.placeholders': LaunchPlaceholders;
    'process.survivor': SurvivorSearch;
    /** The order of starts and stops; the first contribution counts. */
    'process.dependencies': BootDependencies;
  }
  interface Services {
    /** Lists, starts, stops and holds the processes of the configuration. */
    'process.supervisor': ProcessSupervisor;
  }
  interface Hooks {
    /** At every start, before ports, waits and launch. A throw vetoes the start. */
    'process.prepare': AsyncSeriesWaterfallHook<[LaunchPlan]>;
    /** Right before the launch, which waits for the taps. They can no longer refuse it. */
    'process.launching': AsyncParallelHook<[LaunchPlan]>;
    /** Right after a launch, before it is observed. What the process needs from its beginning on is done here. */
    'process.launched': AsyncParallelHook<[LaunchPlan, ProcessSnapshot]>;
    /** After a launch whose process stayed alive through its observation. */
    'process.started': AsyncParallelHook<[ProcessSnapshot]>;
    /** After a run ended, requested or not, and its output was read completely. */
    'process.exited': AsyncParallelHook<[ProcessSnapshot, ExitRecord]>;
    /** After each change of a snapshot. */
    'process.status': AsyncParallelHook<[ProcessSnapshot]>;
  }
  interface Events {
    /** A process was started and stayed alive. */
    service_start: { readonly processName: string; readonly trigger: StartTrigger };
    /** A process was stopped on request. */
    service_stop: { readonly processName: string; readonly trigger: StopTrigger };
    /** A process could not be started, or did not stay alive. */
    'service.start.failed': {
      readonly processName: string;
      readonly reason: string;
      readonly trigger: StartTrigger;
    };
    /** A process ended without a request. */
    'service.stopped.unexpectedly': {
      readonly processName: string;
      readonly reason: string;
      readonly exitCode: number | null;
      readonly signal: string | null;
    };
    /**
     * The boot is over, and every expected service is ready. One of these two is emitted, once for each start of the
     * host.
     */
    'dumb.startup.ready': Readonly<Record<never, never>>;
    /** The boot is over, and some services are not ready. `failures` has the reasons by process name. */
    'dumb.startup.degraded': { readonly failures: Readonly<Record<string, string>> };
  }
}
