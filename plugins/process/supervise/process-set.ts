// The processes of the configuration, one for each named block; follows changes and tells which blocks count as
// enabled.
import { isDeepStrictEqual } from 'node:util';
import { type Host, type NamedBlock, Problem } from '#core';
import { ticksNow, timeAt } from '#kit/boot-clock';
import { unknownProcess } from '#kit/unknown-process';
import type { ProcessSnapshot } from '../contract.ts';
import { portsOf } from '../launch/ports.ts';
import type { Predecessor } from '../launch/preparation.ts';
import { attempt } from './attempt.ts';
import { SupervisedProcess } from './supervised-process.ts';
import type { Supervision } from './supervision.ts';

/** Names of processes that a change of the configuration file has enabled or disabled. */
export interface Switches {
  readonly on: readonly string[];
  readonly off: readonly string[];
}

export interface ProcessSetListener {
  added(process: SupervisedProcess): void;
  switched(switches: Switches): void;
}

/** The actor of changes that were made in the configuration file. */
const FILE_ACTOR = 'file';
/** Actors whose changes start and stop the processes that they enable and disable. Other actors do that themselves. */
const FOLLOWED: readonly (string | undefined)[] = [FILE_ACTOR, 'plugins'];

export class ProcessSet {
  readonly #host: Host;
  readonly #supervision: Supervision;
  readonly #listener: ProcessSetListener;
  readonly #processes = new Map<string, SupervisedProcess>();
  readonly #startTicks = ticksNow();
  #counting: { readonly of: unknown; readonly revision: number; readonly blocks: readonly NamedBlock[] } | undefined;
  /** Number of changes of the configuration that the processes have taken over. */
  #revision = 0;
  /** Processes that left the configuration, until they have ended. */
  readonly #retiring = new Map<string, { readonly process: SupervisedProcess; readonly stopped: Promise<void> }>();
  /** Names of held processes that left the configuration. */
  readonly #leaving = new Set<string>();
  /** Names of processes whose entries are services only because of a plugin. */
  readonly #given = new Set<string>();
  /** Whether the configuration enabled each process before the latest change. */
  #configured = new Map<string, boolean>();
  /** Why values that do not fit kept processes from being started before the latest change, by process name. */
  #misfits: ReadonlyMap<string, string> = new Map();

  constructor(host: Host, supervision: Supervision, listener: ProcessSetListener) {
    this.#host = host;
    this.#supervision = supervision;
    this.#listener = listener;
  }

  /**
   * Follows the configuration from now on. A process whose entry is removed is stopped, one that is held when its hold
   * has ended.
   */
  follow(): void {
    this.#update();
    this.#host.tap('config.changed', ({ actor }) => this.#update(actor));
  }

  /** A number that changes when the processes have taken over another configuration. */
  get revision(): number {
    return this.#revision;
  }

  all(): readonly SupervisedProcess[] {
    return [...this.#processes.values()];
  }

  /** Same as `find`, also for a process that left the configuration and has not ended yet. */
  findLiving(processName: string): SupervisedProcess | undefined {
    return this.#processes.get(processName) ?? this.#retiring.get(processName)?.process;
  }

  /** All processes, including those that left the configuration and have not ended yet. */
  allLiving(): readonly SupervisedProcess[] {
    return [...this.#processes.values(), ...[...this.#retiring.values()].map(({ process }) => process)];
  }

  /** Resolves when the processes that left the configuration so far have ended, or could not be ended. */
  async retired(): Promise<void> {
    await Promise.all([...this.#retiring.values()].map(({ stopped }) => stopped));
  }

  /** The process that had the entry of the block under another name, while it is held or has not ended. */
  predecessor(named: NamedBlock): Predecessor | undefined {
    const isFormer = ({ block }: SupervisedProcess): boolean =>
      block.processName !== named.processName && isDeepStrictEqual(block.path, named.path);
    for (const processName of this.#leaving) {
      const process = this.#leavingProcess(processName);
      if (process !== undefined && isFormer(process))
        return { processName, gone: this.#supervision.holds.released(processName) };
    }
    for (const [processName, { process, stopped }] of this.#retiring)
      if (isFormer(process) && process.snapshot().status !== 'stopped') return { processName, gone: stopped };
    return undefined;
  }

  find(processName: string): SupervisedProcess | undefined {
    return this.#processes.get(processName);
  }

  /** The named blocks of the configuration; `enabled` is also true for processes started by hand. */
  blocks(): readonly NamedBlock[] {
    const configured = this.#host.use('config.store').blocks();
    const { wanted } = this.#supervision;
    const { revision } = wanted;
    if (this.#counting?.of !== configured || this.#counting.revision !== revision) {
      const blocks = configured.map(named =>
        named.block.enabled === true || !wanted.isEnabled(named)
          ? named
          : { ...named, block: Object.freeze({ ...named.block, enabled: true }) },
      );
      this.#counting = { of: configured, revision, blocks };
    }
    return this.#counting.blocks;
  }

  list(): readonly ProcessSnapshot[] {
    const leaving = [...this.#leaving].flatMap(name => this.#leavingProcess(name)?.snapshot() ?? []);
    return [...this.blocks().flatMap(block => this.#snapshot(block) ?? []), ...leaving];
  }

  get(processName: string): ProcessSnapshot | undefined {
    const block = this.#host.use('config.store').findBlock(processName);
    return block === undefined ? this.#leavingProcess(processName)?.snapshot() : this.#snapshot(block);
  }

  ports(processName: string): ReadonlyMap<string, number> {
    return portsOf(this.#host.use('config.store').findBlock(processName)?.block ?? {});
  }

  /** Throws a Problem when there is no such process, or it is the host's own entry. */
  controllable(processName: string): SupervisedProcess {
    const block = this.#host.use('config.store').findBlock(processName);
    if (block?.isHost === true) throw new Problem(400, 'The API service cannot be controlled through its own API');
    const process = block === undefined ? undefined : this.#processes.get(block.processName);
    if (process === undefined) throw unknownProcess(processName);
    return process;
  }

  /** Disabling an entry that is disabled already overrides a start by hand, too. */
  async disregardStart(processName: string): Promise<void> {
    const process = this.#processes.get(processName);
    const isEnabled = this.#host.use('config.store').findBlock(processName)?.block.enabled === true;
    if (process === undefined || isEnabled) return;
    this.#forgetStart(processName);
    await this.refresh(process);
    this.#supervision.onStatus(process.snapshot());
  }

  /** Takes over the blocks again, with what plugins that are set up later than supervision have added. */
  renew(): void {
    this.#update();
  }

  /** Applies the block again after a start or stop by hand changed whether it counts as enabled. */
  async refresh(process: SupervisedProcess): Promise<void> {
    const { processName } = process.block;
    const block = this.blocks().find(other => other.processName === processName);
    if (block !== undefined) await process.reconfigure(block);
  }

  #update(actor?: string): void {
    this.#supervision.capture.applySettings();
    const switches = this.#switches(actor);
    const named = new Map(
      this.blocks()
        .filter(({ isHost }) => !isHost)
        .map(block => [block.processName, block]),
    );
    for (const [name, process] of this.#processes) {
      if (named.has(name) || this.#staysHeld(name)) continue;
      this.#processes.delete(name);
      // An entry that went with its plugin comes back with it, and is wanted as it was.
      if (!this.#given.delete(name)) this.#supervision.wanted.forget(name);
      void this.retire(process);
    }
    const store = this.#host.use('config.store');
    for (const [name, block] of named) {
      if (store.givenBlock(name) === undefined) this.#given.delete(name);
      else this.#given.add(name);
      const process = this.#processes.get(name) ?? this.#returned(name);
      if (process !== undefined) {
        void process.reconfigure(block);
        continue;
      }
      const added = new SupervisedProcess(block, this.#supervision);
      this.#processes.set(name, added);
      this.#listener.added(added);
    }
    this.#revision += 1;
    if (FOLLOWED.includes(actor)) this.#listener.switched(switches);
  }

  /** Takes in a process that is not in the configuration, for a shutdown to stop it with the others. */
  takeIn(process: SupervisedProcess): void {
    this.#retiring.set(process.block.processName, { process, stopped: Promise.resolve() });
  }

  /** Stops a process that is not in the configuration. Never throws. */
  retire(process: SupervisedProcess): Promise<void> {
    const { processName } = process.block;
    const failure = `${processName} left the configuration but could not be stopped`;
    const stop = () =>
      process.stop('config').catch((error: unknown) => {
        if (!this.#isOver) throw error;
      });
    const stopped = attempt(this.#host.log, failure, stop).then(() => {
      // A process that could not be ended stays, and is tried again at the shutdown.
      const isOver = process.snapshot().status === 'stopped';
      if (isOver && this.#retiring.get(processName)?.process === process) this.#retiring.delete(processName);
    });
    this.#retiring.set(processName, { process, stopped });
    return stopped;
  }

  /** Whether supervision ends, which stops or hands over every process itself. */
  get #isOver(): boolean {
    return this.#host.signal.aborted || this.#host.stopping !== null;
  }

  /** Takes back a process whose entry returned before the process ended, because a new one would run beside it. */
  #returned(name: string): SupervisedProcess | undefined {
    const process = this.#retiring.get(name)?.process;
    if (process === undefined) return undefined;
    this.#retiring.delete(name);
    this.#processes.set(name, process);
    return process;
  }

  /**
   * Whether a process that left the configuration stays because it is held. Its removal is logged, and done when the
   * hold has ended.
   */
  #staysHeld(name: string): boolean {
    const { holds } = this.#supervision;
    const hold = holds.of(name);
    if (hold === null) return false;
    if (this.#leaving.has(name)) return true;
    this.#leaving.add(name);
    this.#host.log.warn(
      `${name} left the configuration while it is held: ${hold.reason}; it is stopped and removed when that is done`,
    );
    void attempt(this.#host.log, `${name} left the configuration but could not be removed`, async () => {
      await holds.released(name);
      this.#leaving.delete(name);
      if (!this.#isOver) this.#update();
    });
    return true;
  }

  /** Disabling an entry overrides an earlier start by hand, and enabling one in the file an earlier stop. */
  #switches(actor: string | undefined): Switches {
    const store = this.#host.use('config.store');
    const { wanted } = this.#supervision;
    const configured = new Map<string, boolean>();
    const on: string[] = [];
    const off: string[] = [];
    for (const { processName, block } of store.blocks()) {
      const before = this.#configured.get(processName);
      // A value that does not fit disables its block, but says nothing about whether the service is to run.
      const enabled = store.disabledBlocks.has(processName) ? before : block.enabled === true;
      if (enabled === undefined) continue;
      configured.set(processName, enabled);
      if (enabled === (before === true)) continue;
      (enabled ? on : off).push(processName);
      if (!enabled) this.#forgetStart(processName);
      else if (actor === FILE_ACTOR && wanted.isStopped(processName)) wanted.forget(processName);
    }
    this.#configured = configured;
    this.#followMisfits(store.disabledBlocks);
    return { on, off };
  }

  #followMisfits(misfits: ReadonlyMap<string, string>): void {
    for (const [name, misfit] of this.#misfits)
      if (misfits.get(name) !== misfit) this.#processes.get(name)?.forgetMisfit(misfit);
    this.#misfits = new Map(misfits);
  }

  /** Lets the configuration decide again, and forgets the failures of the process. */
  #forgetStart(processName: string): void {
    this.#supervision.wanted.forget(processName);
    this.#processes.get(processName)?.forgetFailure();
  }

  /** A held process whose block is gone; undefined when it is back. */
  #leavingProcess(name: string): SupervisedProcess | undefined {
    const isBack = this.#host
      .use('config.store')
      .blocks()
      .some(({ processName }) => processName === name);
    return isBack || !this.#leaving.has(name) ? undefined : this.#processes.get(name);
  }

  #snapshot(block: NamedBlock): ProcessSnapshot | undefined {
    return block.isHost ? this.#own(block) : this.#processes.get(block.processName)?.snapshot();
  }

  /** The host's own entry has no supervised process; it runs whenever this is called. */
  #own({ processName, configKey }: NamedBlock): ProcessSnapshot {
    return {
      processName,
      configKey,
      isHost: true,
      status: 'running',
      pid: process.pid,
      pgid: null,
      startedAt: timeAt(this.#startTicks),
      startedMonotonicMs: 0,
      waitingFor: [],
      lastFailureReason: null,
      lastExit: null,
      enabled: true,
      wanted: null,
      stoppedByUser: false,
      wasReady: true,
      completed: null,
      held: null,
      restartRequired: false,
      adopted: false,
    };
  }
}
