// Boots all services: adopts what an earlier host left running, assigns ports, starts what is wanted and waits until it
// is ready.
import path from 'node:path';
import type { ContributionList, Host, NamedBlock } from '#core';
import { errorText } from '#kit/error-text';
import { namedReason } from '#kit/named-reason';
import type { ProcessSnapshot, StartupReport, SurvivorSearch } from '../contract.ts';
import { repairOwnership } from '../launch/ownership.ts';
import { movePorts } from '../launch/port-moves.ts';
import { portsClaimedBy, reservePorts } from '../launch/ports.ts';
import type { StartupSettings } from '../settings.ts';
import type { Adoption } from '../supervise/adoption.ts';
import { attempt } from '../supervise/attempt.ts';
import { captureTargetOf } from '../supervise/capture-target.ts';
import type { ProcessHealthReports } from '../supervise/process-health.ts';
import type { ProcessSet } from '../supervise/process-set.ts';
import type { SupervisedProcess } from '../supervise/supervised-process.ts';
import type { Supervision } from '../supervise/supervision.ts';
import type { BootOrder } from './boot-order.ts';
import { OrderedStart } from './ordered-start.ts';
import { PutOffStarts } from './put-off-starts.ts';
import { type ReadinessSource, Startup } from './startup.ts';
import { adoptSurvivor } from './survivor.ts';

const REVIEW_MS = 5_000;
/** Emits an event once for each start of the host: this plugin boots again when it is loaded again. */
const STARTUP_EVENT = { once: 'startup' };

export interface BootOptions {
  readonly host: Host;
  readonly supervision: Supervision;
  readonly processes: ProcessSet;
  readonly adoption: Adoption;
  readonly survivors: ContributionList<SurvivorSearch>;
  readonly health: ProcessHealthReports;
  readonly order: (blocks: readonly NamedBlock[]) => Promise<BootOrder>;
  readonly settings: () => StartupSettings;
  readonly onPhase: (report: StartupReport) => void;
}

export class Boot {
  readonly startup: Startup;
  readonly #options: BootOptions;
  readonly #host: Host;
  readonly #starts: OrderedStart;
  readonly #putOff: PutOffStarts;
  /** Why this boot must not start a process, by process name. */
  readonly #refusals = new Map<string, unknown>();
  /** Resolves when ports are assigned. Before that, a started process would be mistaken for a foreign listener. */
  readonly portsGiven: Promise<void>;
  #giveOut!: () => void;
  /** Ends the wait for a configuration that can be used; undefined before there is such a wait. */
  #goOn: (() => void) | undefined;
  #run: Promise<void> | undefined;
  #taken: Promise<void> | undefined;
  /** Whether the boot has chosen the processes that it starts. */
  #hasBegun = false;
  /** Names of processes that the configuration enabled after the boot had chosen. */
  readonly #enabledLater = new Set<string>();
  #ended = false;

  constructor(options: BootOptions) {
    this.#options = options;
    this.#host = options.host;
    this.startup = new Startup(options.onPhase);
    this.#host.tap('config.changed', () => {
      if (this.#host.use('config.store').state !== 'safe') this.#goOn?.();
      void options.adoption.retireUnclaimed(options.processes);
    });
    this.portsGiven = new Promise(resolve => {
      this.#giveOut = resolve;
    });
    this.#putOff = new PutOffStarts(this.#host, () => void this.#startPutOff());
    this.#starts = new OrderedStart({
      start: process => this.#start(process),
      isReady: process => options.health.isReady(process.snapshot()),
      readinessTimeoutMs: () => options.settings().readinessTimeoutMs,
      onBegin: (processName, needs) => this.startup.begin(processName, needs),
      onEnd: processName => this.startup.end(processName),
      paced: ms => options.host.paced(ms),
    });
  }

  run(): Promise<void> {
    this.#run ??= this.#boot()
      .catch((error: unknown) => {
        if (this.#options.supervision.capture.isClosed) return;
        this.#host.log.error('the start of the services was cut short', error);
        this.startup.fail(errorText(error));
        this.startup.enter('degraded');
        if (!this.#ended) this.#tellDegraded();
      })
      .finally(() => this.#giveOut());
    return this.#run;
  }

  /** Resolves when every process that an earlier host left running is either supervised by this host or being ended. */
  takeOver(): Promise<void> {
    this.#taken ??= this.#takeOver();
    return this.#taken;
  }

  /**
   * Same for a shutdown, when all others have ended. Also takes over processes whose entries may be in a configuration
   * that cannot be used.
   */
  async takeOverAll(): Promise<void> {
    await this.takeOver();
    await this.#options.adoption.takeUnclaimed(this.#options.processes);
  }

  /** Kills processes that an earlier host left running and this one has not taken over. Returns their names. */
  killEarlier(): Promise<string[]> {
    return this.#options.adoption.kill();
  }

  /** Takes note of the state of a process that may be starting. */
  follow(snapshot: ProcessSnapshot): void {
    this.#starts.follow(snapshot);
  }

  /**
   * Starts processes that the configuration enables now, in order. Does nothing before the boot has chosen its
   * processes, because the boot then reads the new configuration.
   */
  async startEnabled(processes: readonly SupervisedProcess[]): Promise<void> {
    if (!this.#hasBegun) return;
    const isDue = await Promise.all(processes.map(process => this.#isDue(process)));
    const due = processes.filter((_process, index) => isDue[index]);
    for (const { block } of due) {
      this.#host.log.info(`${block.processName} is enabled in the configuration file now and is started`);
      this.#enabledLater.add(block.processName);
    }
    await this.#startInOrder(due);
  }

  /** Prevents further starts. */
  end(): void {
    this.#ended = true;
    this.#starts.end();
    this.#giveOut();
    this.#goOn?.();
  }

  async #boot(): Promise<void> {
    const { processes, supervision } = this.#options;
    await this.takeOver();
    const store = this.#host.use('config.store');
    if (store.state === 'safe') await this.#untilMended(store.stateReason ?? 'the configuration cannot be used');
    if (this.#ended) return;
    this.#tellOfUser();
    await attempt(this.#host.log, 'the logs could not be given to the service user', () => this.#repairOwnership());
    await attempt(this.#host.log, 'the ports could not be reserved', () => this.#reservePorts());
    this.#giveOut();
    const blocks = new Map(processes.blocks().map(block => [block.processName, block]));
    const isExpected = (block: NamedBlock): boolean => this.#isBootable(block) && supervision.wanted.isWanted(block);
    const wanted = processes.all().filter(({ block }) => isExpected(blocks.get(block.processName) ?? block));
    this.#hasBegun = true;
    this.startup.expect(wanted.map(({ block }) => block.processName));
    this.startup.enter('preinstalling');
    const candidate = wanted.find(({ block }) => this.#bootsFirst(block));
    const first = candidate && (await this.#isInstalled(candidate)) ? candidate : undefined;
    if (first !== undefined) await this.#starts.one(first);
    const rest = wanted.filter(process => process !== first && process.snapshot().completed !== true);
    // Services whose programs are installed start meanwhile.
    void this.#install(rest).then(() => this.startup.leave('preinstalling', 'starting_services'));
    await this.#startInOrder(rest);
    await this.#stabilize();
  }

  async #takeOver(): Promise<void> {
    const { processes, adoption } = this.#options;
    // Digests that earlier hosts recorded are those of whole blocks, with the keys that later plugins add.
    processes.renew();
    await adoption.run(processes, process => this.#lookBeside(process));
    // Otherwise it is looked at when what it left behind has ended.
    for (const process of processes.all()) if (process.snapshot().status !== 'unknown') await this.#lookBeside(process);
  }

  /** Looks for a process of the service that no host has recorded, and for work that is done already. */
  async #lookBeside(process: SupervisedProcess): Promise<void> {
    const { survivors, supervision } = this.#options;
    const refuse = (error: unknown) => void this.#refusals.set(process.block.processName, error);
    await adoptSurvivor(process, { host: this.#host, survivors, supervision, refuse });
    process.recallCompletion();
  }

  /** Waits, with nothing started, until the configuration can be used. */
  async #untilMended(reason: string): Promise<void> {
    this.startup.fail(reason);
    this.startup.enter('degraded');
    this.#giveOut();
    await new Promise<void>(resolve => {
      this.#goOn = resolve;
    });
    // What plugins change in the mended configuration counts, too.
    if (!this.#ended) await this.#host.use('config.store').announced();
    this.startup.mend();
  }

  async #isInstalled({ block }: SupervisedProcess): Promise<boolean> {
    const missing = this.#host.find('service.setup')?.missing(block);
    return (await missing?.catch((error: unknown) => error)) === undefined;
  }

  async #install(processes: readonly SupervisedProcess[]): Promise<void> {
    const blocks = processes.map(({ block }) => block);
    await attempt(this.#host.log, 'missing programs could not be installed', async () => {
      await this.#host.find('installs')?.installMissing(blocks);
    });
  }

  /** Whether the process is wanted, and neither runs nor is being started. */
  async #isDue(process: SupervisedProcess): Promise<boolean> {
    return (
      !(await process.runs()) && process.snapshot().status !== 'starting' && !this.#excused(process.block.processName)
    );
  }

  async #startInOrder(processes: readonly SupervisedProcess[]): Promise<void> {
    if (processes.length === 0) return;
    const order = await this.#options.order(processes.map(({ block }) => block));
    for (const cycle of order.cycles)
      this.#host.log.warn(
        `services need each other, one of them is started without the other: ${[...cycle, cycle[0]].join(' -> ')}`,
      );
    await this.#starts.run(processes, order);
  }

  /** Never throws. */
  async #startPutOff(): Promise<void> {
    if (this.#ended || !this.#putOff.isDue || this.#options.supervision.state.roomFault() !== undefined) return;
    const processes = this.#putOff.take();
    const isDue = await Promise.all(processes.map(process => this.#isDue(process)));
    const due = processes.filter((_process, index) => isDue[index]);
    for (const process of processes) if (!due.includes(process)) this.#putOff.forget(process);
    if (due.length === 0) return;
    const names = due.map(({ block }) => block.processName).join(', ');
    this.#host.log.info(`starts that were put off are made now: ${names}`);
    await attempt(this.#host.log, 'starts that were put off could not be made', () => this.#startInOrder(due));
  }

  async #stabilize(): Promise<void> {
    const { processes, health, settings } = this.#options;
    const source: ReadinessSource = {
      async ready(name) {
        const process = processes.find(name);
        return process !== undefined && (await health.isReady(process.snapshot()));
      },
      endedBy(name) {
        const { status, lastExit = null } = processes.find(name)?.snapshot() ?? {};
        return status === 'stopped' && lastExit?.unexpected === true ? lastExit.reason : null;
      },
      excused: name => this.#excused(name),
    };
    await this.startup.stabilize(settings(), source, this.#host.signal);
    if (this.#ended) return;
    const { expectedServices, failures } = this.startup.report();
    const names = Object.keys(failures);
    this.startup.enter(names.length === 0 ? 'ready' : 'degraded');
    if (names.length === 0) this.#host.emit('dumb.startup.ready', {}, STARTUP_EVENT);
    else this.#tellDegraded();
    const ready = expectedServices.length === 0 ? 'there is no service to start' : 'every service is ready';
    this.#host.log.info(names.length === 0 ? ready : `the start is degraded, not ready: ${names.join(', ')}`);
    this.#host.every(this.#host.paced(REVIEW_MS), () => this.startup.review(source));
  }

  #tellDegraded(): void {
    this.#host.emit('dumb.startup.degraded', { failures: this.startup.report().failures }, STARTUP_EVENT);
  }

  async #start(process: SupervisedProcess): Promise<void> {
    const { processName } = process.block;
    const wasUnknown = process.snapshot().status === 'unknown';
    await this.#options.adoption.cleared(process);
    await this.#options.supervision.holds.released(processName);
    if (this.#ended) return;
    // Work that an earlier host saw done is known only now.
    if (wasUnknown && process.snapshot().completed === true) return;
    if (this.#excused(processName)) {
      this.#putOff.forget(process);
      return;
    }
    // A start that was put off is shown as failed until the process is ready.
    if (!this.#putOff.has(process)) this.startup.mark(processName, 'starting');
    try {
      const refusal = this.#refusals.get(processName);
      if (refusal !== undefined) {
        this.#host.log.error(namedReason(processName, errorText(refusal)), refusal);
        throw refusal;
      }
      await process.start(this.#enabledLater.has(processName) ? 'config' : 'boot');
      this.#putOff.forget(process);
    } catch (error) {
      if (this.#ended || this.#host.signal.aborted) return;
      if (this.#excused(processName)) {
        this.#putOff.forget(process);
        return;
      }
      this.startup.mark(processName, 'failed', errorText(error));
      if (this.#putOff.add(process, error) === 'new')
        this.#host.log.info(`${processName} is started as soon as that has passed`);
    }
  }

  #bootsFirst({ configKey }: NamedBlock): boolean {
    return this.#options.supervision.launchPolicy(configKey)?.bootsFirst === true;
  }

  #isBootable(named: NamedBlock): boolean {
    const { command } = named.block;
    const hasCommand = Array.isArray(command) ? command.length > 0 : typeof command === 'string' && command !== '';
    return hasCommand || !this.#bootsFirst(named);
  }

  #excused(processName: string): boolean {
    const process = this.#options.processes.find(processName);
    return process === undefined || !this.#options.supervision.wanted.isWanted(process.block);
  }

  /** A host that is not root has one user for itself and all services. */
  #tellOfUser(): void {
    const uid = process.getuid?.();
    if (uid === undefined || uid === 0) return;
    const { puid } = this.#host.use('config.store').root();
    if (Number(puid) !== uid)
      this.#host.log.warn(
        `services run as user ${uid}, as Stackwarden itself does; puid and pgid need a start as root`,
      );
  }

  async #repairOwnership(): Promise<void> {
    if (process.getuid?.() !== 0) return;
    const { puid, pgid } = this.#host.use('config.store').root();
    const { name, directory, isFallback } = this.#host.use('log.hub');
    if (isFallback) return;
    const targets = this.#options.processes.all().map(({ block }) => captureTargetOf(this.#host, block));
    const usual = { uid: Number(puid), gid: Number(pgid) };
    const logs = new Map([[path.join(directory, `${name}.log`), usual]]);
    for (const { logFile, accessLogFile, owner } of targets)
      for (const log of [logFile, accessLogFile]) if (log !== null) logs.set(path.resolve(log), owner ?? usual);
    const repaired = await repairOwnership(logs, (place, error) =>
      this.#host.log.warn(`the logs in ${place} could not be given to the service user`, error),
    );
    if (repaired > 0) this.#host.log.info(`${repaired} logs and log directories were given back to the service user`);
  }

  /** All ports that this boot moves are written in one update. */
  async #reservePorts(): Promise<void> {
    const { host, processes, supervision } = this.#options;
    const { portTurns, portCompanion, snapshot } = supervision;
    const blocks = () => processes.blocks();
    /** Services on whose ports an earlier host has left something: their own starts wait for that. */
    const waiting = new Set<string>();
    const freed = async (ports: readonly number[]): Promise<void> => {
      for (const port of ports) {
        if ((await supervision.leftOn([port])).length === 0) continue;
        for (const block of blocks())
          if (portsClaimedBy(block, portCompanion).includes(port)) waiting.add(block.processName);
      }
    };
    // A service keeps its ports while any process of its last run may still hold them.
    const holds = (processName: string): boolean => {
      const { pid = null, status } = processes.find(processName)?.snapshot() ?? {};
      const isHeld = this.#refusals.has(processName) || pid !== null || status === 'unknown';
      return isHeld || waiting.has(processName) || portTurns.isGiven({ processName }, snapshot);
    };
    const { signal } = host;
    const look = (all: readonly NamedBlock[]) => reservePorts(all, holds, portCompanion);
    const unsaved = (cause: unknown) => new Error('the changed ports could not be saved', { cause });
    // Where the boot had to wait for its configuration, users may start services at the same time.
    const moving = movePorts({ host, signal, portCompanion, portTurns, blocks, look, freed, unsaved });
    await moving.catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}
