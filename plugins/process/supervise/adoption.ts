// Takes over what an earlier host launched: adopts processes that still run, and clears away the remains of others.
import path from 'node:path';
import type { Host } from '#core';
import { askAgain } from '#kit/ask-again';
import { timeAt } from '#kit/boot-clock';
import { attempt } from './attempt.ts';
import { findCgroup, removeEmptyCgroups } from './cgroup.ts';
import { removeOtherPipes } from './input-pipe.ts';
import { namedAfter, regain } from './kept-block.ts';
import { launchedAs, targetOf } from './launch-record.ts';
import { type Leftover, mayHold } from './leftover.ts';
import { bootId, DELETED, isAlive, outputFileOf } from './proc-stat.ts';
import type { ProcessSet } from './process-set.ts';
import { launchedFrom } from './run-leaders.ts';
import type { ProcessRecord } from './state-file.ts';
import { killProcesses, survivors } from './stop.ts';
import { SupervisedProcess } from './supervised-process.ts';
import type { Supervision } from './supervision.ts';

export class Adoption {
  readonly #host: Host;
  readonly #supervision: Supervision;
  /** Records that cannot be judged while the configuration is unusable, because their entries may still be in it. */
  readonly #unclaimed = new Map<string, ProcessRecord>();
  /** Names of records that are dealt with: their processes are supervised now, or have ended. */
  readonly #judged = new Set<string>();
  /** The ends of what processes left behind, which may take as long as a stop. */
  readonly #clearings = new Map<SupervisedProcess, Leftover>();
  /** The same of processes whose entries are gone. */
  readonly #stops = new Map<SupervisedProcess, Leftover>();
  /** The end of all that `run` has begun. */
  #tidied: Promise<void> = Promise.resolve();
  #look: (process: SupervisedProcess) => Promise<void> = async () => undefined;
  #earlier: Promise<ReadonlyMap<string, ProcessRecord>> | undefined;
  #hasBegun = false;

  constructor(host: Host, supervision: Supervision) {
    this.#host = host;
    this.#supervision = supervision;
  }

  /**
   * Takes over all records concurrently. Resolves when the processes that live are adopted. What others left behind is
   * ended meanwhile, so that it holds back none but those that need its place; `look` is called with each of these
   * before it may be started. Throws a Problem 503 when supervision was handed over meanwhile.
   */
  async run(processes: ProcessSet, look: (process: SupervisedProcess) => Promise<void>): Promise<void> {
    const earlier = await this.#records();
    this.#hasBegun = true;
    this.#look = look;
    // An unusable configuration does not prove that an entry was removed.
    const isWhole = this.#host.use('config.store').state === 'valid';
    if (isWhole) await this.#regain(earlier, processes);
    const claims: Promise<void>[] = [];
    const retired: Promise<void>[] = [];
    for (const [name, record] of earlier) {
      const process = processes.findLiving(name);
      if (process !== undefined) claims.push(this.#claim(process, record));
      else if (isWhole)
        claims.push(this.#retire(name, record, processes).then(stopped => void retired.push(stopped())));
      else this.#unclaimed.set(name, record);
    }
    await Promise.all(claims);
    // After a hand-over, what is left to do belongs to the next supervision.
    this.#supervision.capture.refuseClosed();
    await attempt(this.#host.log, 'the empty cgroups of earlier hosts could not be removed', removeEmptyCgroups);
    this.#tidied = this.#tidy(retired, isWhole);
  }

  /** Removes what the processes that have ended leave. Never throws. */
  async #tidy(retired: readonly Promise<void>[], isWhole: boolean): Promise<void> {
    const { state, capture } = this.#supervision;
    await Promise.all([this.#allCleared(), ...retired]);
    if (capture.isClosed) return;
    const failed = 'leftover input or output could not be removed';
    await attempt(this.#host.log, failed, () => removeOtherPipes(state.directory, () => state.runIds()));
    if (isWhole) await attempt(this.#host.log, failed, () => capture.removeOthers());
  }

  /** Resolves when what the process, or any, left behind has ended, or cannot be ended. */
  async cleared(process?: SupervisedProcess): Promise<void> {
    if (process !== undefined) await this.#clearings.get(process)?.gone;
    else await Promise.all([this.#allCleared(), this.#tidied]);
  }

  async #allCleared(): Promise<void> {
    await Promise.all([...this.#clearings.values()].map(({ gone }) => gone));
  }

  /** See `Supervision.leftOn`. */
  async leftOn(ports: readonly number[]): Promise<readonly Leftover[]> {
    const leftovers = [...this.#clearings.values(), ...this.#stops.values()];
    const { portCompanion } = this.#supervision;
    const isHolder = await Promise.all(leftovers.map(leftover => mayHold(leftover, ports, portCompanion)));
    return leftovers.filter((_leftover, index) => isHolder[index]);
  }

  /**
   * Adopts a recorded process whose entry appeared in the configuration after `run`. Before `run`, it is marked as
   * unknown.
   */
  added(process: SupervisedProcess): void {
    const { processName } = process.block;
    if (!this.#hasBegun && this.#supervision.state.has(processName)) process.mark('unknown');
    const record = this.#unclaimed.get(processName);
    if (record === undefined) return;
    this.#unclaimed.delete(processName);
    void attempt(this.#host.log, `${processName} could not be adopted`, () => this.#claim(process, record));
  }

  /**
   * Stops the processes of unclaimed records, once a configuration that can be used does not name them. Never throws.
   */
  async retireUnclaimed(processes: ProcessSet): Promise<void> {
    if (this.#host.use('config.store').state !== 'valid') return;
    const failure = 'what left the configuration could not be stopped';
    await attempt(this.#host.log, failure, () => this.#regain(this.#unclaimed, processes));
    const named = new Set(processes.blocks().map(({ processName }) => processName));
    const others = [...this.#unclaimed].filter(([name]) => !named.has(name));
    for (const [name] of others) this.#unclaimed.delete(name);
    await Promise.all(
      others.map(([name, record]) =>
        attempt(this.#host.log, failure, async () => (await this.#retire(name, record, processes))()),
      ),
    );
  }

  /** Takes over the processes of unclaimed records, for a shutdown to stop them. Never throws. */
  async takeUnclaimed(processes: ProcessSet): Promise<void> {
    const unclaimed = [...this.#unclaimed];
    this.#unclaimed.clear();
    await Promise.all(
      unclaimed.map(([name, record]) => {
        const process = this.#recorded(name, record);
        processes.takeIn(process);
        return attempt(this.#host.log, `${name} could not be taken over`, () => this.#claim(process, record));
      }),
    );
    await this.cleared();
  }

  /**
   * Kills recorded processes that are not supervised yet, when the host must end at once. Returns their names. Never
   * throws.
   */
  async kill(): Promise<string[]> {
    const { log } = this.#host;
    const killed: string[] = [];
    const failure = 'what an earlier run left behind could not be killed';
    await attempt(log, failure, async () => {
      for (const [name, record] of await this.#records()) {
        if (this.#judged.has(name)) continue;
        await attempt(log, failure, async () => {
          const target = targetOf(name, { ...record, ...launchedAs(record) });
          if (survivors(target).length > 0) killed.push(name);
          killProcesses(target);
        });
      }
    });
    return killed;
  }

  /** The records of the host before, or those of the processes that are found when the records are lost. */
  #records(): Promise<ReadonlyMap<string, ProcessRecord>> {
    this.#earlier ??= (async () => this.#supervision.state.load() ?? (await askAgain(() => this.#unrecorded())))();
    return this.#earlier;
  }

  /** Makes records for processes of this directory that still run although their records are lost. */
  async #unrecorded(): Promise<ReadonlyMap<string, ProcessRecord>> {
    const { state } = this.#supervision;
    const found = new Map<string, ProcessRecord>();
    const users = new Set([0, process.getuid?.(), ...this.#serviceUsers()]);
    const launched = await launchedFrom(state, users);
    if (launched.others.length > 0) {
      const pids = launched.others.map(({ pid }) => pid).join(', ');
      this.#host.log.warn(`another Stackwarden, with a directory of the same path, runs processes of its own: ${pids}`);
    }
    for (const stat of launched.found) {
      // The oldest group leader of a run was launched by the host; younger ones are its descendants.
      if (found.has(stat.processName)) continue;
      const { pid, pgid, startTime, runId, processName } = stat;
      this.#host.log.warn(`the record of ${processName} is lost; it was found as pid ${pid} and is supervised again`);
      found.set(processName, {
        pid,
        pgid,
        start_time: startTime,
        boot_id: bootId,
        started_at: timeAt(startTime),
        run_id: runId,
        spool: spoolOf(pid, state.directory) ?? path.join(state.directory, `${runId}.spool`),
        block_digest: '',
        cgroup: await findCgroup(runId),
        config_key: '',
        path: [],
        block: {},
      });
    }
    return found;
  }

  /** Every user that a service may run as. */
  #serviceUsers(): number[] {
    const store = this.#host.use('config.store');
    const named = store.blocks().flatMap(block => {
      try {
        return this.#supervision.users.of(block)?.uid ?? [];
      } catch {
        // A block whose user cannot be taken on has started nothing.
        return [];
      }
    });
    return [Number(store.root().puid), ...named];
  }

  /** Resolves when the process is adopted, or is found to have ended. What it left behind is ended meanwhile. */
  async #claim(process: SupervisedProcess, record: ProcessRecord): Promise<void> {
    const isAdopted = await this.#unlessHandedOver(() => this.#adopt(process, record));
    if (isAdopted !== false) return;
    const failure = `what ${process.block.processName} left behind could not be cleared away`;
    const clearing = attempt(this.#host.log, failure, () => this.#unlessHandedOver(() => this.#clear(process, record)));
    this.#clearings.set(process, { block: process.block, record, gone: clearing });
    void clearing.then(() => this.#clearings.delete(process));
  }

  /** After a hand-over the record stays as it is, for the next supervision; the result is then undefined. */
  async #unlessHandedOver<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!this.#supervision.capture.isClosed) throw error;
      return undefined;
    }
  }

  /** False when the process has ended. */
  async #adopt(process: SupervisedProcess, record: ProcessRecord): Promise<boolean> {
    const { processName } = process.block;
    const { log } = this.#host;
    process.mark('unknown');
    if (!(await process.adopt(record))) return false;
    log.info(`${processName} is still running as pid ${process.snapshot().pid} and was adopted`);
    if (outputFileOf(record.pid) === `${record.spool} (deleted)`)
      log.error(`output of ${processName} is lost until its next start: ${record.spool} was removed`);
    if (this.#supervision.wanted.isStopped(processName)) this.#stopAgain(process);
    this.#judged.add(processName);
    return true;
  }

  async #clear(process: SupervisedProcess, record: ProcessRecord): Promise<void> {
    const { processName } = process.block;
    const { capture, state } = this.#supervision;
    await process.clearAway(record).catch((error: unknown) => {
      capture.refuseClosed();
      this.#host.log.error(`what ${processName} left behind could not be cleared away`, error);
    });
    capture.refuseClosed();
    this.#judged.add(processName);
    const unclear = `whether ${processName} runs already cannot be told`;
    await attempt(this.#host.log, unclear, () => this.#unlessHandedOver(() => this.#look(process)));
    capture.refuseClosed();
    if (process.snapshot().pid === null) process.mark('stopped');
    state.delete(processName, record.run_id);
  }

  /** The earlier host ended while it was stopping the process for a user. */
  #stopAgain(process: SupervisedProcess): void {
    const { processName } = process.block;
    const failure = `${processName} was being stopped when the last run ended, and could not be stopped`;
    void attempt(this.#host.log, failure, () => process.stop('request'));
  }

  /**
   * Brings back the entries of running processes whose plugin is gone: that does not take them out of the
   * configuration.
   */
  async #regain(records: ReadonlyMap<string, ProcessRecord>, processes: ProcessSet): Promise<void> {
    const store = this.#host.use('config.store');
    let isChanged = false;
    for (const [name, record] of records) {
      if (processes.findLiving(name) !== undefined || !(await this.#isAlive(record))) continue;
      if (regain(name, record, store)) isChanged = true;
    }
    if (isChanged) processes.renew();
  }

  #isAlive(record: ProcessRecord): Promise<boolean> {
    return askAgain(() => isAlive(targetOf(record.run_id, { ...record, ...launchedAs(record) }).leader));
  }

  /**
   * Stops a process whose entry was removed from the configuration while no host ran. Resolves when it is taken over,
   * with a function that waits for its end.
   */
  async #retire(processName: string, record: ProcessRecord, processes: ProcessSet): Promise<() => Promise<void>> {
    const process = this.#recorded(processName, record);
    await this.#claim(process, record);
    const stopped = processes.retire(process);
    this.#stops.set(process, { block: process.block, record, gone: stopped });
    void stopped.then(() => this.#stops.delete(process));
    return () => stopped;
  }

  /** The process of a record whose entry is not in the configuration. */
  #recorded(processName: string, record: ProcessRecord): SupervisedProcess {
    return new SupervisedProcess(namedAfter(processName, record), this.#supervision);
  }
}

/** The spool in the directory to which the process writes, also when that was removed; undefined when there is none. */
function spoolOf(pid: number, directory: string): string | undefined {
  const output = outputFileOf(pid)?.replace(DELETED, '');
  return output?.endsWith('.spool') && path.dirname(output) === directory ? output : undefined;
}
