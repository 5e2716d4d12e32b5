// All managed processes of the configuration: boots them in order, follows the configuration, adopts, stops and hands over.
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Host, type NamedBlock, Problem } from '#core';
import type { ServiceTemplate } from '../../service-templates/contract.ts';
import { type BootOrder, bootOrder } from '../boot/boot-order.ts';
import { unmountLeftovers } from '../boot/leftover-mounts.ts';
import { RunFiles } from '../boot/run-files.ts';
import { shutDown } from '../boot/shutdown.ts';
import { Startup, type StartupSettings } from '../boot/startup.ts';
import { stopTiers } from '../boot/stop-tiers.ts';
import { CaptureThread } from '../capture/capture-thread.ts';
import type {
  BootDependencies,
  HealthReport,
  ProcessEventType,
  ProcessSnapshot,
  ProcessSupervisor,
  StartOutcome,
  StartTrigger,
  StartupReport,
  StopPolicy,
} from '../contract.ts';
import { isBootable, isFrontend } from '../launch/frontend.ts';
import { repairOwnership } from '../launch/ownership.ts';
import { describeMove, reservePorts } from '../launch/ports.ts';
import { Adoption } from './adoption.ts';
import { attempt } from './attempt.ts';
import { findDatabaseServer } from './database-server.ts';
import { ExitWatch } from './exit-watch.ts';
import { StateFile } from './state-file.ts';
import { SupervisedProcess, type Supervision } from './supervised-process.ts';

const API_KEY = 'dumb_api_service';
const DATABASE_KEY = 'postgres';
const REVIEW_MS = 5_000;
/** From then on a start that waits holds no other up. */
const STALLED_MS = 5_000;
const STALL_POLL_MS = 100;
const READY_POLL_MS = 250;
/** How soon the end of an adopted process is noticed. */
const EXIT_POLL_MS = 500;

export interface SupervisorOptions {
  readonly host: Host;
  readonly hooks: Pick<Supervision, 'prepare' | 'onStatus' | 'onStarted' | 'onExited'> & {
    onEvent(type: ProcessEventType, processName: string | null, reason: string | null): void;
  };
  readonly health: (processName: string) => HealthReport;
  /** Fresh, not cached: whether the process is ready now. */
  readonly isReady: (processName: string) => Promise<boolean>;
  readonly startupSettings: () => StartupSettings;
}

export class Supervisor implements ProcessSupervisor {
  readonly #options: SupervisorOptions;
  readonly #host: Host;
  readonly #processes = new Map<string, SupervisedProcess>();
  readonly #dependencies: ReadonlyMap<string, BootDependencies>;
  readonly #stopPolicies: ReadonlyMap<string, StopPolicy>;
  readonly #capture: CaptureThread;
  readonly #exits: ExitWatch;
  readonly #runFiles: RunFiles;
  readonly #startup: Startup;
  readonly #supervision: Supervision;
  readonly #adoption: Adoption;
  readonly #startedAt = Date.now() / 1_000;
  /** Those whose start of this boot gets on: neither done nor waiting for long. */
  readonly #progressing = new Set<SupervisedProcess>();
  /** Why a process must not be started by this boot. */
  readonly #refusals = new Map<string, unknown>();
  #revision = 0;
  #booting: Promise<void> | undefined;
  /** Resolves when the boot has given out the ports: what starts earlier would be taken for a foreign listener. */
  readonly #reserved: Promise<void>;
  #release!: () => void;
  #ended = false;

  constructor(options: SupervisorOptions) {
    const { host, hooks } = options;
    this.#options = options;
    this.#host = host;
    this.#exits = new ExitWatch(host.paced(EXIT_POLL_MS));
    this.#reserved = new Promise(resolve => {
      this.#release = resolve;
    });
    this.#dependencies = host.contributions('process.dependencies');
    this.#stopPolicies = host.contributions('process.stop-policy');
    const directory = path.join(host.paths.configDir, 'supervisor');
    const hub = host.use('log.hub');
    this.#capture = new CaptureThread({
      directory,
      rotation: () => hub.rotation(),
      async deliver(lines) {
        hub.writeCaptured(lines);
        await hub.flush();
      },
      log: host.log,
    });
    this.#runFiles = new RunFiles(host.log);
    this.#startup = new Startup(report => this.#runFiles.startup(report));
    this.#supervision = {
      ...hooks,
      host,
      capture: this.#capture,
      state: new StateFile(directory, host.log),
      exits: this.#exits,
      onStatus: snapshot => {
        this.#revision += 1;
        this.#runFiles.running(this.#runningPids());
        hooks.onStatus(snapshot);
      },
      ownsLogFile: (block, file) => this.#ownsLogFile(block, file),
      portCompanion: configKey => this.#template(configKey)?.ui?.portOffset,
      stopPolicy: configKey => this.#stopPolicy(configKey),
    };
    this.#adoption = new Adoption(host, this.#supervision);
    this.#follow();
  }

  /** Another number after each change of a status. */
  get revision(): number {
    return this.#revision;
  }

  list(): readonly ProcessSnapshot[] {
    return this.#host
      .use('config.store')
      .blocks()
      .flatMap(block => this.get(block.processName) ?? []);
  }

  get(processName: string): ProcessSnapshot | undefined {
    const block = this.#host.use('config.store').findBlock(processName);
    if (block === undefined) return undefined;
    if (block.configKey === API_KEY) return this.#ownSnapshot(block);
    return this.#processes.get(block.processName)?.snapshot();
  }

  async start(processName: string, trigger: StartTrigger): Promise<StartOutcome> {
    return (await this.#startable(processName)).start(trigger);
  }

  async stop(processName: string): Promise<'stopped' | 'not-running' | 'already-stopping'> {
    return this.#controllable(processName).stop({ byUser: true });
  }

  async restart(processName: string, trigger: StartTrigger): Promise<void> {
    await (await this.#startable(processName)).restart(trigger);
  }

  health(processName: string): HealthReport {
    return this.#options.health(processName);
  }

  startup(): StartupReport {
    return this.#startup.report();
  }

  /** Monotonic milliseconds since when auto-restart may act; null before a terminal phase. */
  get settledMs(): number | null {
    return this.#startup.terminal ? this.#startup.completedMs : null;
  }

  /** Adopts what an earlier host left running, then starts everything enabled, in dependency order. */
  boot(): Promise<void> {
    this.#booting ??= this.#boot()
      .catch((error: unknown) => {
        this.#host.log.error('the start of the services was cut short', error);
        this.#startup.fail(error instanceof Error ? error.message : String(error));
        this.#startup.enter('degraded');
      })
      .finally(() => this.#release());
    return this.#booting;
  }

  /** Throws a Problem 409 when an update would take a running process out of the configuration. */
  checkRemovals(before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>): void {
    for (const { block } of this.#processes.values()) {
      const running = this.#processes.get(block.processName)?.snapshot().status !== 'stopped';
      if (running && reaches(before, block.path) && !reaches(after, block.path)) {
        throw new Problem(409, `${block.processName} is running; stop it before its entry is removed`);
      }
    }
  }

  /** Stops everything in order; resolves with whether all of it ended by itself. */
  async shutDown(budgetMs: number): Promise<boolean> {
    this.#startup.enter('shutting_down');
    this.#ended = true;
    this.#release();
    const clean = await shutDown({ tiers: await this.#tiers(), budgetMs, log: this.#host.log });
    await unmountLeftovers(
      [...this.#processes.values()].map(({ block }) => block),
      this.#host.log,
    );
    return clean;
  }

  /** Leaves every process that runs to the next host. */
  async handOver(): Promise<void> {
    this.#ended = true;
    this.#release();
    this.#exits.close();
    await this.#capture.close();
  }

  /** Kills everything at once. */
  kill(): void {
    for (const process of this.#processes.values()) process.kill();
  }

  async #boot(): Promise<void> {
    await this.#adopt();
    const store = this.#host.use('config.store');
    if (store.state === 'safe') {
      this.#startup.fail(store.stateReason ?? 'the configuration cannot be used');
      this.#startup.enter('degraded');
      return;
    }
    await attempt(this.#host.log, 'the ownership of the logs could not be repaired', () => this.#repairOwnership());
    await attempt(this.#host.log, 'the ports could not be reserved', () => this.#reservePorts());
    this.#release();
    const enabled = [...this.#processes.values()].filter(({ block }) => isBootable(block));
    this.#startup.expect(enabled.map(({ block }) => block.processName));
    this.#startup.enter('preinstalling');
    const frontend = enabled.find(({ block }) => isFrontend(block));
    if (frontend !== undefined) await this.#untilStalled(frontend, this.#startOne(frontend));
    this.#startup.enter('starting_services');
    await this.#startInOrder(enabled.filter(process => process !== frontend));
    const source = { ready: this.#options.isReady, excused: (name: string) => this.#excused(name) };
    await this.#startup.stabilize(this.#options.startupSettings(), source, this.#host.signal);
    if (this.#ended) return;
    const failures = Object.keys(this.#startup.report().failures);
    this.#startup.enter(failures.length === 0 ? 'ready' : 'degraded');
    const reason = failures.length === 0 ? null : `not ready: ${failures.join(', ')}`;
    this.#options.hooks.onEvent(failures.length === 0 ? 'dumb.startup.ready' : 'dumb.startup.degraded', null, reason);
    this.#host.log.info(failures.length === 0 ? 'every service is ready' : `the start is degraded, ${reason}`);
    this.#host.every(this.#host.paced(REVIEW_MS), () => this.#startup.review(source));
  }

  async #adopt(): Promise<void> {
    await this.#adoption.run(this.#processes);
    for (const process of this.#processes.values()) await this.#adoptDatabaseServer(process);
  }

  async #adoptDatabaseServer(process: SupervisedProcess): Promise<void> {
    const { processName, configKey, block } = process.block;
    if (configKey !== DATABASE_KEY || process.snapshot().status === 'running') return;
    if (typeof block.config_dir !== 'string' || block.config_dir === '') return;
    const server = await findDatabaseServer(block.config_dir).catch((error: unknown) => {
      this.#refusals.set(processName, error);
      return null;
    });
    if (server === null || !(await process.adopt(server))) return;
    this.#host.log.info(`${processName} already runs as pid ${server.pid} on ${block.config_dir} and was adopted`);
  }

  async #repairOwnership(): Promise<void> {
    if (process.getuid?.() !== 0) return;
    const { puid, pgid } = this.#host.use('config.store').root();
    const { logDir } = this.#host.paths;
    const repaired = await repairOwnership(logDir, { uid: Number(puid), gid: Number(pgid) });
    if (repaired > 0) this.#host.log.info(`${repaired} entries of ${logDir} were given back to the service user`);
  }

  /** All moves of a boot in one write. */
  async #reservePorts(): Promise<void> {
    const store = this.#host.use('config.store');
    const runs = (name: string): boolean =>
      this.#refusals.has(name) || this.#processes.get(name)?.snapshot().status === 'running';
    const moves = await reservePorts(store.blocks(), runs, this.#supervision.portCompanion);
    if (moves.size === 0) return;
    const updates: Record<string, unknown> = {};
    for (const [block, changes] of moves) {
      for (const change of changes) this.#host.log.warn(describeMove(block.processName, change));
      const moved = Object.fromEntries(changes.map(({ key, to }) => [key, to]));
      merge(updates, block.path, moved);
    }
    await store.update({ updates, persist: true, actor: 'process' });
  }

  /**
   * Independent processes start side by side, each as soon as what it needs is ready. One that fails does not hold its
   * dependents up. Nor does one that waits for long, once nothing else gets on: what it waits for may come after it. Such
   * a start goes on by itself.
   */
  async #startInOrder(enabled: readonly SupervisedProcess[]): Promise<void> {
    const { needs, cycles } = await this.#order(enabled.map(({ block }) => block));
    for (const cycle of cycles)
      this.#host.log.warn(
        `services need each other, one of them is started without the other: ${[...cycle, cycle[0]].join(' -> ')}`,
      );
    const started = new Map<string, Promise<void>>();
    const start = (process: SupervisedProcess): Promise<void> => {
      const { processName } = process.block;
      const known = started.get(processName);
      if (known !== undefined) return known;
      const before = enabled.filter(({ block }) => needs.get(processName)?.has(block.processName));
      const isNeeded = [...needs.values()].some(names => names.has(processName));
      const run = Promise.all(before.map(start)).then(async () => {
        this.#startup.begin(
          processName,
          before.map(({ block }) => block.processName),
        );
        await this.#untilStalled(process, this.#startOne(process));
        if (isNeeded) await this.#untilReady(process);
        this.#startup.end(processName);
      });
      started.set(processName, run);
      return run;
    };
    await Promise.all(enabled.map(start));
  }

  async #untilStalled(process: SupervisedProcess, start: Promise<void>): Promise<void> {
    let settled = false;
    this.#progressing.add(process);
    const settling = start.then(() => {
      settled = true;
    });
    let waitingSinceMs: number | undefined;
    while (!settled && !this.#ended) {
      const now = performance.now();
      waitingSinceMs = process.snapshot().waitingFor.length > 0 ? (waitingSinceMs ?? now) : undefined;
      const isStalled = waitingSinceMs !== undefined && now - waitingSinceMs >= this.#host.paced(STALLED_MS);
      if (isStalled) this.#progressing.delete(process);
      else this.#progressing.add(process);
      if (isStalled && this.#progressing.size === 0) return;
      await Promise.race([settling, delay(STALL_POLL_MS, undefined, { ref: false })]);
    }
    this.#progressing.delete(process);
  }

  /** Ready, or no longer running, or not ready in time: then its dependents start all the same. */
  async #untilReady(process: SupervisedProcess): Promise<void> {
    const { readinessTimeoutMs } = this.#options.startupSettings();
    const deadline = performance.now() + readinessTimeoutMs;
    this.#progressing.add(process);
    while (!this.#ended && process.snapshot().status === 'running' && performance.now() < deadline) {
      if (await this.#options.isReady(process.block.processName)) break;
      await delay(this.#host.paced(READY_POLL_MS), undefined, { ref: false });
    }
    this.#progressing.delete(process);
  }

  async #startOne(process: SupervisedProcess): Promise<void> {
    const { processName } = process.block;
    if (this.#ended || this.#excused(processName)) return;
    this.#startup.mark(processName, 'starting');
    try {
      if (this.#refusals.has(processName)) throw this.#refusals.get(processName);
      await process.start('boot');
    } catch (error) {
      if (this.#ended || this.#excused(processName)) return;
      const reason = error instanceof Error ? error.message : String(error);
      this.#host.log.error(`${processName} did not start`, error);
      this.#startup.mark(processName, 'failed', reason);
    }
  }

  /** Keeps the list of processes as the configuration has it. A process whose entry is gone is stopped. */
  #follow(): void {
    const update = (): void => {
      this.#capture.applyRotation();
      const blocks = this.#host
        .use('config.store')
        .blocks()
        .filter(({ configKey }) => configKey !== API_KEY);
      const named = new Map(blocks.map(block => [block.processName, block]));
      for (const [name, process] of this.#processes) {
        if (named.has(name)) continue;
        this.#processes.delete(name);
        void attempt(this.#host.log, `${name} left the configuration but could not be stopped`, () => process.stop());
      }
      for (const [name, block] of named) {
        const process = this.#processes.get(name);
        if (process !== undefined) {
          void attempt(this.#host.log, `the log of ${name} could not be changed`, () => process.reconfigure(block));
          continue;
        }
        const added = new SupervisedProcess(block, this.#supervision);
        this.#processes.set(name, added);
        this.#adoption.added(added);
      }
    };
    update();
    this.#host.tap('config.changed', update);
  }

  /** Once the boot has given out the ports. */
  async #startable(processName: string): Promise<SupervisedProcess> {
    this.#controllable(processName);
    await this.#reserved;
    return this.#controllable(processName);
  }

  #controllable(processName: string): SupervisedProcess {
    const block = this.#host.use('config.store').findBlock(processName);
    if (block === undefined) throw new Problem(404, 'Process not found');
    if (block.configKey === API_KEY) throw new Problem(400, 'The API service cannot be controlled through its own API');
    if (this.#ended) throw new Problem(503, 'The service is shutting down');
    const process = this.#processes.get(block.processName);
    if (process === undefined) throw new Problem(404, 'Process not found');
    return process;
  }

  #excused(processName: string): boolean {
    const process = this.#processes.get(processName);
    return process === undefined || process.block.block.enabled !== true || process.snapshot().stoppedByUser;
  }

  /** A graph that fails must not keep anything from starting or stopping. */
  async #order(blocks: readonly NamedBlock[]): Promise<BootOrder> {
    const [graph] = this.#dependencies.values();
    try {
      if (graph !== undefined) return await graph.startOrder();
    } catch (error) {
      this.#host.log.error('the dependency graph cannot be asked; what the waits name decides the order', error);
    }
    return bootOrder(blocks);
  }

  async #tiers(): Promise<SupervisedProcess[][]> {
    const all = [...this.#processes.values()];
    const { needs } = await this.#order(all.map(({ block }) => block));
    return stopTiers(all, needs, configKey => this.#stopPolicy(configKey)?.tier);
  }

  #stopPolicy(configKey: string): StopPolicy | undefined {
    return [...this.#stopPolicies.values()].find(policy => policy.configKey === configKey);
  }

  #template(configKey: string): ServiceTemplate | undefined {
    return this.#host.find('service.templates')?.get(configKey);
  }

  /**
   * The host owns a service's log below the log directory, and where its kind has no other log than its output at the
   * place that its template names. Any other path is the application's own: the host would make it the service user's.
   */
  #ownsLogFile({ configKey, key }: NamedBlock, file: string): boolean {
    const templates = this.#host.find('service.templates');
    const template = templates?.get(configKey);
    if (template?.launch?.hostWritesLog === true && templates?.block(template, key).log_file === file) return true;
    const relative = path.relative(this.#host.paths.logDir, file);
    return relative !== '' && !relative.startsWith('..') && !path.isAbsolute(relative);
  }

  #ownSnapshot(block: NamedBlock): ProcessSnapshot {
    return {
      processName: block.processName,
      configKey: block.configKey,
      status: 'running',
      pid: process.pid,
      pgid: null,
      startedAt: this.#startedAt,
      startedMonotonicMs: 0,
      waitingFor: [],
      lastFailureReason: null,
      lastExit: null,
      stoppedByUser: false,
      restartRequired: false,
      adopted: false,
    };
  }

  #runningPids(): Record<string, number> {
    return Object.fromEntries(
      this.list().flatMap(({ processName, pid, status }) =>
        pid !== null && status === 'running' ? [[processName, pid]] : [],
      ),
    );
  }
}

/** Puts an object at a path, making the objects above it. */
function merge(root: Record<string, unknown>, path: readonly string[], value: Record<string, unknown>): void {
  const [key, ...rest] = path;
  if (key === undefined) {
    Object.assign(root, value);
    return;
  }
  const child = (root[key] ?? {}) as Record<string, unknown>;
  root[key] = child;
  merge(child, rest, value);
}

function reaches(root: unknown, path: readonly string[]): boolean {
  const end = path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], root);
  return end !== undefined;
}
