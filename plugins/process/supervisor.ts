// Process control as other plugins use it: combines supervision, boot, holds and the ordered shutdown.
import path from 'node:path';
import { type ContributionList, type Host, type NamedBlock, Problem } from '#core';
import { withDeadline } from '#kit/deadline';
import { errorText } from '#kit/error-text';
import { placeholderValues } from '#kit/placeholder-values';
import { turnWithTime } from '#kit/turns';
import type {} from '../services/contract.ts';
import { Boot } from './boot/boot.ts';
import { type BootOrder, orderOf } from './boot/boot-order.ts';
import { unmountLeftovers } from './boot/leftover-mounts.ts';
import { RunFiles } from './boot/run-files.ts';
import { shutDown } from './boot/shutdown.ts';
import { stopTiers } from './boot/stop-tiers.ts';
import type { SpoolFigures } from './capture/capture.ts';
import { captureInto } from './capture/own-log-capture.ts';
import type {
  BootDependencies,
  HealthReport,
  HeldProcess,
  HoldOptions,
  LaunchPlan,
  LaunchPolicy,
  ProcessSnapshot,
  ProcessSupervisor,
  RunShare,
  StartOutcome,
  StartTrigger,
  StartupReport,
  StopOptions,
  StopOutcome,
  StopPolicy,
} from './contract.ts';
import { findObstacles } from './launch/obstacles.ts';
import { PortTurns } from './launch/port-turns.ts';
import { NO_PORT } from './launch/ports.ts';
import { RunUsers } from './launch/run-user.ts';
import { guardSecrets } from './launch/secret-guard.ts';
import { guardUsers } from './launch/user-guard.ts';
import { dependenciesPoint, launchPolicyPoint, placeholdersPoint, stopPolicyPoint, survivorPoint } from './points.ts';
import type { StartupSettings } from './settings.ts';
import { Adoption } from './supervise/adoption.ts';
import { attempt } from './supervise/attempt.ts';
import { captureTargetOf } from './supervise/capture-target.ts';
import { ExitWatch } from './supervise/exit-watch.ts';
import { Holds } from './supervise/holds.ts';
import { LineageWatch } from './supervise/lineage-watch.ts';
import { isReadyBy, ProcessHealthReports } from './supervise/process-health.ts';
import { ProcessSet, type Switches } from './supervise/process-set.ts';
import { trialPlan } from './supervise/relaunch.ts';
import { guardRemovals } from './supervise/removal-guard.ts';
import { isByHand, refuseStopped, type StartRequest } from './supervise/start-request.ts';
import { StateFile } from './supervise/state-file.ts';
import type { SupervisedProcess } from './supervise/supervised-process.ts';
import type { Supervision } from './supervise/supervision.ts';
import { WantedStates } from './supervise/wanted-states.ts';

/** Below the configuration directory. */
export const STATE_DIRECTORY = 'supervisor';
/** Interval at which the end of adopted processes is noticed. */
const EXIT_POLL_MS = 500;
const LINEAGE_POLL_MS = 5_000;
/** The part of a shutdown's budget for taking over processes of an earlier host; stopping has the rest. */
const TAKE_OVER_SHARE = 0.25;
/** Recorded as the requester when a caller gives no name. */
const UNNAMED_REQUESTER = 'request';
const NO_HEALTH: HealthReport = { status: null, healthy: null, reason: null, details: null };
const HANDED_OVER = 'Process control is being loaded again; try again in a moment';

export interface SupervisorOptions {
  readonly host: Host;
  readonly hooks: Pick<Supervision, 'prepare' | 'onLaunching' | 'onLaunched' | 'onStatus' | 'onStarted' | 'onExited'>;
  readonly startupSettings: () => StartupSettings;
}

export class Supervisor implements ProcessSupervisor {
  readonly #host: Host;
  readonly #dependencies: ContributionList<BootDependencies>;
  readonly #stopPolicies: ContributionList<StopPolicy>;
  readonly #launchPolicies: ContributionList<LaunchPolicy>;
  readonly #runFiles: RunFiles;
  readonly #state: StateFile;
  readonly #wanted: WantedStates;
  readonly #holds: Holds;
  readonly #supervision: Supervision;
  readonly #processes: ProcessSet;
  readonly #health: ProcessHealthReports;
  readonly #boot: Boot;
  #revision = 0;
  /** Why requests to start or stop are refused from now on. */
  #end: Problem | undefined;

  constructor({ host, hooks, startupSettings }: SupervisorOptions) {
    this.#host = host;
    this.#dependencies = host.point('process.dependencies', dependenciesPoint);
    this.#stopPolicies = host.point('process.stop-policy', stopPolicyPoint);
    this.#launchPolicies = host.point('process.launch-policy', launchPolicyPoint);
    const placeholders = host.point('process.placeholders', placeholdersPoint);
    this.#runFiles = new RunFiles(host.log);
    this.#state = new StateFile(path.join(host.paths.configDir, STATE_DIRECTORY), host.log);
    this.#wanted = new WantedStates(this.#state);
    this.#holds = new Holds(process => this.#supervision.onStatus(process.snapshot()));
    this.#health = new ProcessHealthReports(host);
    this.#supervision = {
      ...hooks,
      host,
      capture: captureInto(host, this.#state.directory),
      state: this.#state,
      exits: new ExitWatch(host.paced(EXIT_POLL_MS)),
      wanted: this.#wanted,
      holds: this.#holds,
      lineage: new LineageWatch(host.paced(LINEAGE_POLL_MS)),
      blocks: () => this.#processes.blocks(),
      snapshot: processName => this.#processes.get(processName),
      predecessor: block => this.#processes.predecessor(block),
      isReady: process => this.#health.isReady(process),
      reasonOf: process => this.#health.of(process).reason,
      onStatus: snapshot => {
        host.use('config.store').keepBlock(snapshot.processName, snapshot.status !== 'stopped');
        this.#revision += 1;
        this.#runFiles.running(() => this.#runningPids());
        this.#boot.follow(snapshot);
        hooks.onStatus(snapshot);
      },
      onStarted: snapshot => {
        // Without probes a process counts as ready as soon as it runs.
        if (host.find('process.health') === undefined && snapshot.completed === null)
          this.#wanted.markReady(snapshot.processName);
        hooks.onStarted(snapshot);
      },
      onExited: (snapshot, exit) => {
        if (snapshot.completed === true) this.#wanted.markReady(snapshot.processName);
        hooks.onExited(snapshot, exit);
      },
      users: new RunUsers(host),
      portCompanion: configKey => host.find('service.templates')?.get(configKey)?.ui?.portOffset,
      portTurns: new PortTurns(),
      leftOn: ports => adoption.leftOn(ports),
      stopPolicy: configKey => this.#stopPolicy(configKey),
      launchPolicy: configKey => [...this.#launchPolicies.values()].find(policy => policy.configKey === configKey),
      placeholders: block => placeholderValues(placeholders, block),
    };
    const adoption = new Adoption(host, this.#supervision);
    this.#processes = new ProcessSet(host, this.#supervision, {
      added: process => adoption.added(process),
      switched: switches => void this.#follow(switches),
    });
    this.#boot = new Boot({
      host,
      supervision: this.#supervision,
      processes: this.#processes,
      adoption,
      survivors: host.point('process.survivor', survivorPoint),
      health: this.#health,
      order: blocks => this.#order(blocks),
      settings: startupSettings,
      onPhase: report => this.#runFiles.startup(report),
    });
    this.#processes.follow();
  }

  /** The sum changes whenever one of its addends does, because each only grows. */
  get revision(): number {
    return this.#revision + this.#processes.revision + this.#boot.startup.revision;
  }

  get outputFault(): string | null {
    return this.#supervision.capture.fault;
  }

  /** Why a restart of the host would not know its processes; null while it would. */
  get stateFault(): string | null {
    return this.#state.writeFault;
  }

  /** How much output of services waits in spools, and how much was read from them. */
  spoolFigures(): Promise<SpoolFigures> {
    return this.#supervision.capture.figures();
  }

  list(): readonly ProcessSnapshot[] {
    return this.#processes.list();
  }

  get(processName: string): ProcessSnapshot | undefined {
    return this.#processes.get(processName);
  }

  blocks(): readonly NamedBlock[] {
    return this.#processes.blocks();
  }

  async start(processName: string, trigger: StartTrigger, by = UNNAMED_REQUESTER): Promise<StartOutcome> {
    const request: StartRequest = { what: 'Start', trigger, by };
    const process = await this.#startable(processName, request);
    return this.#wanting(process, request, () => process.start(trigger));
  }

  async stop(processName: string, by = UNNAMED_REQUESTER, options?: StopOptions): Promise<StopOutcome> {
    const process = this.#controllable(processName);
    this.#holds.refuseStop(process.block.processName);
    this.#wanted.stop(process.block, by, options);
    this.#tell('stop', process, by);
    const outcome = await process.stop(options?.isRestarted === true ? 'restart' : 'request');
    await this.#state.saved();
    // A process that was not running has no change of status, but its wanted state may be shown differently.
    if (outcome === 'not-running') this.#supervision.onStatus(process.snapshot());
    return outcome;
  }

  async restart(processName: string, trigger: StartTrigger, by = UNNAMED_REQUESTER): Promise<void> {
    const request: StartRequest = { what: 'Restart', trigger, by };
    const process = await this.#startable(processName, request);
    await this.#wanting(process, request, () => process.restart(trigger));
  }

  async disregardStart(processName: string): Promise<void> {
    await this.#processes.disregardStart(processName);
    await this.#state.saved();
  }

  async stopAll(by: string, ended?: string): Promise<void> {
    // A restart, a schedule, a boot that goes on or the next host would start enabled processes that do not run now.
    const due = this.#processes.all().filter(process => {
      const { processName, status, enabled } = process.snapshot();
      return status !== 'stopped' || (enabled && processName !== ended);
    });
    const faults: unknown[] = [];
    for (const tier of await this.#tiers(due)) {
      const stops = await Promise.allSettled(
        tier.map(async ({ block }) => {
          await turnWithTime();
          await this.stop(block.processName, by);
        }),
      );
      faults.push(...stops.flatMap(stop => (stop.status === 'rejected' ? [stop.reason] : [])));
    }
    if (faults.length > 0) throw new AggregateError(faults, faults.map(errorText).join('; '));
  }

  share(processName: string): RunShare | undefined {
    return this.#processes.find(processName)?.share();
  }

  input(processName: string, text: string): Promise<void> {
    return this.#controllable(processName).input(text);
  }

  async hold<Value>(
    processName: string,
    reason: string,
    work: (held: HeldProcess) => Promise<Value>,
    options: HoldOptions = {},
  ): Promise<Value> {
    const holder = this.#host.caller?.gone;
    const process = await this.#startable(processName);
    return this.#holds.run(process, reason, work, options, holder);
  }

  plan(block: NamedBlock): LaunchPlan {
    return trialPlan(this.#supervision, block);
  }

  userOf(block: NamedBlock): LaunchPlan['user'] {
    return this.#supervision.users.ofFiles(block);
  }

  /** Why enabled services could not be launched as they are configured, one line each. Changes nothing. */
  obstacles(): Promise<string[]> {
    return findObstacles(this.#host, this.blocks(), block => this.plan(block));
  }

  released(processName: string): Promise<void> {
    return this.#holds.released(processName);
  }

  health(processName: string): HealthReport {
    const process = this.get(processName);
    return process === undefined ? NO_HEALTH : this.#health.of(process);
  }

  async freshHealth(processName: string, limitMs: number): Promise<HealthReport> {
    const process = this.get(processName);
    return process === undefined ? NO_HEALTH : this.#health.fresh(process, limitMs);
  }

  /** Takes note of a health report of a running process. */
  probed({ processName, completed }: ProcessSnapshot, health: HealthReport): void {
    if (completed === null && isReadyBy(health)) this.#wanted.markReady(processName);
  }

  ports(processName: string): ReadonlyMap<string, number> {
    return this.#processes.ports(processName);
  }

  startup(): StartupReport {
    return this.#boot.startup.report();
  }

  get settledMs(): number | null {
    const { terminal, completedMs } = this.#boot.startup;
    return terminal ? completedMs : null;
  }

  /** Adopts what an earlier host left running, then starts everything that is wanted, in dependency order. */
  boot(): Promise<void> {
    return this.#boot.run();
  }

  /**
   * Throws a Problem 403 when an update would run a program as another user or give it secrets of the host while
   * authentication is off, so that the caller may be anybody.
   */
  checkRights(before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>): void {
    if (this.#host.find('access')?.enabled() === true) return;
    const store = this.#host.use('config.store');
    guardUsers(before, after, this.#supervision.users, store);
    guardSecrets(before, after, process.env, store.file);
  }

  /** Throws a Problem 409 when an update would remove a process that runs or is held. */
  checkRemovals(before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>): void {
    guardRemovals(before, after, this.#processes.all(), this.#holds);
  }

  /**
   * Stops all processes in order, including those that an earlier host left running. Wanted states are forgotten, so
   * that the next boot follows `enabled`. Throws an Error that names the processes that could not be ended.
   */
  async shutDown(budgetMs: number): Promise<void> {
    this.#boot.startup.enter('shutting_down');
    this.#finish(new Problem(503, 'The service is shutting down'));
    this.#wanted.forgetAll();
    this.#state.deleteCompleted();
    const endMs = performance.now() + budgetMs;
    const late = 'what an earlier run left behind could not be looked at before the shutdown';
    const limitMs = budgetMs * TAKE_OVER_SHARE;
    await attempt(this.#host.log, late, () => withDeadline(() => this.#boot.takeOverAll(), limitMs, 'taking it over'));
    try {
      const tiers = await this.#tiers(this.#processes.allLiving());
      await shutDown({ tiers, budgetMs: endMs - performance.now(), log: this.#host.log });
    } finally {
      await unmountLeftovers(
        this.#processes.allLiving().map(({ block }) => block),
        this.#host.log,
      );
    }
  }

  async record(processName: string, lines: readonly string[]): Promise<void> {
    const block = this.blocks().find(candidate => candidate.processName === processName);
    if (block === undefined) return;
    await this.#supervision.capture.write(captureTargetOf(this.#host, block), lines);
  }

  rotateLogs(): void {
    this.#supervision.capture.rotate();
  }

  /** Leaves every running process to the next supervision, in this host or another. */
  async handOver(): Promise<void> {
    const reason = this.#finish(new Problem(503, HANDED_OVER));
    await Promise.all(this.#processes.allLiving().map(process => process.handOver(reason)));
    this.#supervision.exits.close();
    this.#supervision.lineage.close();
    await this.#supervision.capture.close();
    await this.#runFiles.close();
    await this.#state.close();
  }

  /** Kills all processes at once, including those that an earlier host left running. */
  async kill(): Promise<void> {
    const all = this.#processes.allLiving();
    const living = all.filter(process => process.livingPids().length > 0).map(({ block }) => block.processName);
    for (const process of all) process.kill();
    const names = [...living, ...(await this.#boot.killEarlier())];
    if (names.length > 0) this.#host.log.warn(`killed: ${names.join(', ')}`);
  }

  /** Starts the processes that a change of the configuration file enabled, and stops those that it disabled. */
  async #follow({ on, off }: Switches): Promise<void> {
    const named = (names: readonly string[]) => names.flatMap(name => this.#processes.find(name) ?? []);
    await attempt(this.#host.log, 'what the configuration file disables could not be stopped', async () => {
      for (const tier of await this.#tiers(named(off))) await Promise.all(tier.map(process => this.#disable(process)));
    });
    // The former run of a renamed process must end first, because it holds the same port.
    await this.#processes.retired();
    const failure = 'what the configuration file enables could not be started';
    await attempt(this.#host.log, failure, () => this.#boot.startEnabled(named(on)));
  }

  /** A process that is held is stopped when its hold has ended, unless it is wanted again by then. */
  async #disable(process: SupervisedProcess): Promise<void> {
    const { processName } = process.block;
    await this.#holds.released(processName);
    if (this.#end !== undefined || this.#wanted.isEnabled(process.block)) return;
    if (process.snapshot().status === 'stopped') return;
    this.#host.log.info(`${processName} is disabled in the configuration file now and is stopped`);
    await attempt(this.#host.log, `${processName} could not be stopped`, () => process.stop('config'));
  }

  #finish(reason: Problem): Problem {
    this.#end ??= reason;
    this.#boot.end();
    this.#holds.end(this.#end);
    return this.#end;
  }

  /** Waits until the boot has assigned ports; refuses processes that are held, and a request that a stop overtakes. */
  async #startable(processName: string, request?: StartRequest): Promise<SupervisedProcess> {
    const named = this.#controllable(processName);
    this.#holds.refuse(named.block.processName);
    const before = this.#wanted.of(named.block.processName);
    await this.#boot.portsGiven;
    const process = this.#controllable(processName);
    this.#holds.refuse(process.block.processName);
    if (request !== undefined) refuseStopped(request, process.block.processName, before, this.#supervision);
    return process;
  }

  #controllable(processName: string): SupervisedProcess {
    const process = this.#processes.controllable(processName);
    if (this.#end !== undefined) throw this.#end;
    return process;
  }

  /** For requests only: plugins that act by themselves log their own decisions. */
  #tell(what: string, { block }: SupervisedProcess, by: string): void {
    this.#host.log.info(`${block.processName}: ${what} asked for by ${by}`);
  }

  /**
   * Makes the process wanted by a requested start; an automatic start does not. A refused start is taken back: a
   * Problem with the status 500 is an attempt that failed, unless there is no port; any other Problem is a refusal.
   */
  async #wanting<Outcome>(
    process: SupervisedProcess,
    request: StartRequest,
    start: () => Promise<Outcome>,
  ): Promise<Outcome> {
    const { processName } = process.block;
    const begin = () => {
      // A hold may have been taken meanwhile. From here on nothing is awaited, so that a later hold waits for this
      // start.
      this.#holds.refuse(processName);
      if (isByHand(request)) this.#tell(request.what.toLowerCase(), process, request.by);
      return start();
    };
    if (!isByHand(request)) return begin();
    const wish = this.#wanted.start(process.block, request.by);
    await this.#applyWish(process);
    try {
      refuseStopped(request, processName, wish, this.#supervision);
      const outcome = await begin();
      this.#wanted.keep(processName);
      return outcome;
    } catch (error) {
      const isRefused = error instanceof Problem && (error.status !== 500 || error.code === NO_PORT);
      if (!isRefused) this.#wanted.keep(processName);
      else if (this.#wanted.withdraw(processName, wish)) {
        await this.#applyWish(process);
        this.#supervision.onStatus(process.snapshot());
      }
      throw error;
    }
  }

  async #applyWish(process: SupervisedProcess): Promise<void> {
    await this.#processes.refresh(process);
    await this.#state.saved();
  }

  /** Only dependencies between the given blocks count. */
  #order(blocks: readonly NamedBlock[]): Promise<BootOrder> {
    return orderOf(blocks, this.#dependencies, this.#host.log);
  }

  /** Orders the processes only when more than one is to be stopped, because that takes a look at the whole stack. */
  async #tiers(processes: readonly SupervisedProcess[]): Promise<SupervisedProcess[][]> {
    if (processes.filter(process => process.snapshot().status !== 'stopped').length < 2) return [[...processes]];
    const { needs } = await this.#order(processes.map(({ block }) => block));
    return stopTiers(processes, needs);
  }

  #stopPolicy(configKey: string): StopPolicy | undefined {
    return [...this.#stopPolicies.values()].find(policy => policy.configKey === configKey);
  }

  #runningPids(): Record<string, number> {
    return Object.fromEntries(
      this.list().flatMap(({ processName, pid, status }) =>
        pid !== null && status === 'running' ? [[processName, pid]] : [],
      ),
    );
  }
}
