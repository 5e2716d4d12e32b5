// One managed process: its states, its operations in turn, its launches and exits. Only `#move` changes the status.
import { type NamedBlock, Problem } from '#core';
import { timeAt } from '#kit/boot-clock';
import { endedOrLate } from '#kit/deadline';
import { errorText } from '#kit/error-text';
import { turnWithTime } from '#kit/turns';
import { unknownProcess } from '#kit/unknown-process';
import type {
  ExitRecord,
  LaunchPlan,
  ProcessSnapshot,
  ProcessStatus,
  RunShare,
  StartOutcome,
  StartTrigger,
  StopOutcome,
  StopTrigger,
} from '../contract.ts';
import { digestOf } from '../launch/block-digest.ts';
import { hasDoneItsWork } from '../launch/depends-on.ts';
import { prepareLaunch } from '../launch/preparation.ts';
import { captureTargetOf } from './capture-target.ts';
import { keepCompletion, keptCompletion } from './completion.ts';
import { tellOfExit, tellOfStop } from './end-report.ts';
import { clearAway, exitHandled, finishRun, forgetRun, goesOn } from './ended-run.ts';
import { Ending } from './ending.ts';
import { type Exit, exitRecordOf } from './exit-record.ts';
import { FirstLook } from './first-look.ts';
import { writeInput } from './input-pipe.ts';
import { keptBlockOf } from './kept-block.ts';
import { observe } from './observation.ts';
import { requireRelaunch } from './relaunch.ts';
import { adoptRun, type CurrentRun, changeRun, launchRun, type Run, type RunSettings } from './run.ts';
import { shareOf } from './run-share.ts';
import { cancelled, failedToStay, refusedStart, tellFailure } from './start-failure.ts';
import { STARTED_BY } from './start-trigger.ts';
import type { FoundProcess, ProcessRecord } from './state-file.ts';
import { NO_GROUP } from './stop.ts';
import type { KnownStopPolicy } from './stop-policy.ts';
import type { Supervision } from './supervision.ts';

/** How long a hand-over waits for a running operation. */
const HAND_OVER_LIMIT_MS = 2_000;
const CANCELLED = Symbol('start cancelled');
const OVERTAKEN = Symbol('start overtaken by a restart');

export class SupervisedProcess {
  readonly #with: Supervision;
  #block: NamedBlock;
  #status: ProcessStatus = 'stopped';
  #run: CurrentRun | undefined;
  #starting: { readonly outcome: Promise<StartOutcome>; readonly abort: AbortController } | undefined;
  #stopping: Promise<void> | undefined;
  #restarting: Promise<void> | undefined;
  #stopTrigger: StopTrigger = 'request';
  #waitingFor: string | null = null;
  #lastFailureReason: string | null = null;
  #lastExit: ExitRecord | null = null;
  readonly #firstLook = new FirstLook();
  /**
   * Number of requested stops; a start that was requested before the latest of them is cancelled. Stops of restarts do
   * not count, because the process runs afterwards, as the start requested.
   */
  #stops = 0;
  readonly #ending: Ending;
  /** Aborts when another supervision takes over; from then on this one leaves the process alone. */
  readonly #handedOver = new AbortController();

  constructor(block: NamedBlock, supervision: Supervision) {
    this.#block = block;
    this.#with = supervision;
    this.#ending = new Ending(() => this.#block, supervision);
  }

  get block(): NamedBlock {
    return this.#block;
  }

  get stopPolicy(): KnownStopPolicy | undefined {
    return this.#ending.policy;
  }

  snapshot(): ProcessSnapshot {
    const run = this.#run;
    const { processName, configKey } = this.#block;
    const { wanted, holds } = this.#with;
    return {
      processName,
      configKey,
      isHost: false,
      status: this.#status,
      pid: run?.target.leader.pid ?? null,
      pgid: run === undefined || run.target.pgid === NO_GROUP ? null : run.target.pgid,
      startedAt: run === undefined ? null : timeAt(run.startTicks),
      startedMonotonicMs: run?.startedMs ?? null,
      waitingFor: this.#waitingFor === null ? [] : [this.#waitingFor],
      lastFailureReason: this.#lastFailureReason,
      lastExit: this.#lastExit,
      enabled: wanted.isEnabled(this.#block),
      wanted: wanted.of(processName),
      stoppedByUser: wanted.isStopped(processName),
      wasReady: wanted.wasReady(processName),
      completed: this.#completed,
      held: holds.of(processName),
      restartRequired: run?.adopted === true && run.blockDigest !== digestOf(this.#block.block),
      adopted: run?.adopted ?? false,
    };
  }

  get #isOneshot(): boolean {
    return this.#block.block.oneshot === true;
  }

  get #completed(): boolean | null {
    return this.#isOneshot ? this.#run === undefined && hasDoneItsWork(this.#lastExit) : null;
  }

  /** undefined while the process does not run. */
  share(): RunShare | undefined {
    const [{ processName }, { directory }] = [this.#block, this.#with.state];
    return this.#run && shareOf(this.#run, { processName, directory, isEnding: () => this.#isEnding });
  }

  /** Throws a Problem 409 when the process does not run, or takes no input. */
  async input(text: string): Promise<void> {
    const { processName } = this.#block;
    await this.#known();
    if (this.#run === undefined)
      throw new Problem(409, `${processName} does not run; start it before it is written to`);
    await writeInput(this.#with.state.directory, this.#run.target.runId, text, processName);
  }

  /** Forgets why the process failed, because it is no longer wanted. An exit that was expected stays known. */
  forgetFailure(): void {
    this.#lastFailureReason = null;
    if (this.#lastExit?.unexpected === true) this.#lastExit = null;
  }

  /** Forgets a refusal for `misfit`, a value that fits by now. */
  forgetMisfit(misfit: string): void {
    if (this.#lastFailureReason?.includes(misfit) === true) this.#lastFailureReason = null;
  }

  /** Takes over a changed block. Never throws. */
  async reconfigure(block: NamedBlock): Promise<void> {
    this.#block = block;
    if (this.#run !== undefined) await changeRun(this.#run, () => this.#settings(), this.#with);
  }

  /** Throws a Problem 409 when a stop is requested before the start is done, 404 when its entry is gone by then. */
  async start(trigger: StartTrigger): Promise<StartOutcome> {
    const stops = this.#stops;
    await this.#quiet();
    this.#handedOver.signal.throwIfAborted();
    if (!this.#hasEntry && trigger !== 'hold') throw unknownProcess(this.#block.processName);
    if (stops !== this.#stops) throw this.#cancelled('Start');
    if (this.#status === 'running') return { status: 'already-running' };
    if (this.#starting === undefined) {
      const abort = new AbortController();
      const outcome = this.#runStart(trigger, abort.signal).finally(() => {
        this.#starting = undefined;
      });
      this.#starting = { outcome, abort };
    }
    const { outcome, abort } = this.#starting;
    return outcome.catch(async (error: unknown) => {
      if (abort.signal.reason !== OVERTAKEN || this.#restarting === undefined) throw error;
      await this.#restarting;
      return { status: 'started' };
    });
  }

  /** Whether the process lives and is not being ended. Its status is `running` until its exit has been handled. */
  async runs(): Promise<boolean> {
    return this.#status === 'running' && this.#run !== undefined && (await goesOn(this.#run));
  }

  stop(trigger: StopTrigger, hurry?: AbortSignal): Promise<StopOutcome> {
    this.#stopTrigger = trigger;
    // Later calls of `restart` must not join the restart that this stop cancels.
    this.#restarting = undefined;
    this.#stops += 1;
    return this.#stop(CANCELLED, hurry);
  }

  /** `why` is the reason for which a start that is under way is aborted. */
  async #stop(why: typeof CANCELLED | typeof OVERTAKEN, hurry?: AbortSignal): Promise<StopOutcome> {
    const wasUnknown = this.#status === 'unknown';
    if (wasUnknown) await this.#known();
    if (this.#stopping !== undefined) {
      await this.#stopping;
      // A user had stopped the process under an earlier host, so the takeover stops it.
      return wasUnknown ? 'stopped' : 'already-stopping';
    }
    if (this.#starting === undefined && this.#run === undefined) return 'not-running';
    this.#stopping = this.#runStop(why, hurry).finally(() => {
      this.#stopping = undefined;
    });
    await this.#stopping;
    return 'stopped';
  }

  restart(trigger: StartTrigger): Promise<void> {
    if (this.#restarting !== undefined) return this.#restarting;
    const own: Promise<void> = this.#runRestart(trigger).finally(() => {
      if (this.#restarting === own) this.#restarting = undefined;
    });
    this.#restarting = own;
    return own;
  }

  /** Resolves when no operation is running, whether the last ones succeeded or failed, and nothing earlier is ended. */
  async settled(): Promise<void> {
    for (;;) {
      const operation = this.#restarting ?? this.#stopping ?? this.#starting?.outcome;
      const current = operation ?? (this.#status === 'unknown' && !this.#handedOver.signal.aborted && this.#known());
      if (!current) return;
      await current.catch(() => undefined);
    }
  }

  /** Kills without waiting. */
  kill(): void {
    this.#starting?.abort.abort(CANCELLED);
    this.#ending.kill(this.#run?.target);
  }

  /** Ids of the processes that are known to live, for the messages of a shutdown. */
  livingPids(): number[] {
    return this.#ending.livingPids(this.#run?.target);
  }

  /**
   * Releases the process for another supervision to adopt. A start that has launched nothing yet is cancelled; a stop
   * may take a moment to end.
   */
  async handOver(reason: Problem): Promise<void> {
    if (this.#stopping !== undefined) await endedOrLate(this.#stopping, HAND_OVER_LIMIT_MS);
    this.#handedOver.abort(reason);
    this.#firstLook.end();
    if (this.#starting === undefined) return;
    this.#starting.abort.abort(reason);
    await endedOrLate(this.#starting.outcome, HAND_OVER_LIMIT_MS);
  }

  /** Continues with a process that an earlier host launched. */
  async adopt(found: FoundProcess): Promise<boolean> {
    this.#ending.recall(found);
    const run = await adoptRun(this.#with, this.#block, found, this.#settings());
    if (run === null) return false;
    this.#follow(run);
    this.#move('running');
    return true;
  }

  /** Ends the remains of an earlier host's launch whose leader has ended, and reads its output to the end. */
  clearAway(record: ProcessRecord): Promise<void> {
    return clearAway(record, { block: this.#block, ending: this.#ending, supervision: this.#with });
  }

  /** `unknown` until the adoption has found out whether the process runs; `stopped` if it does not. */
  mark(status: 'unknown' | 'stopped'): void {
    this.#move(status);
  }

  /** Recalls that a one-shot has done its work under an earlier host; another block has it run again. */
  recallCompletion(): void {
    const kept = this.#isOneshot && !this.#run ? keptCompletion(this.#with.state, this.#block) : undefined;
    if (kept === undefined) return;
    this.#lastExit = kept;
    this.#with.wanted.markReady(this.#block.processName);
  }

  /** Resolves when it is known whether an earlier host's process runs. Throws a Problem 503 if that takes too long. */
  async #known(): Promise<void> {
    if (this.#status !== 'unknown') return;
    await this.#firstLook.over(this.#block.processName, this.#ending.limitMs);
    this.#handedOver.signal.throwIfAborted();
  }

  /** Resolves when no stop is under way, and it is known whether the process runs. */
  async #quiet(): Promise<void> {
    do {
      if (this.#stopping !== undefined) await this.#stopping.catch(() => undefined);
      if (this.#status === 'unknown') await this.#known();
      if (this.#status !== 'starting') await this.#exitHandled();
    } while (this.#stopping !== undefined);
  }

  /**
   * Waits until the exit of a run that has ended is handled, because a start would take the run for a running one.
   * Throws a Problem 503 when that takes too long.
   */
  async #exitHandled(): Promise<void> {
    if (this.#run !== undefined) await exitHandled(this.#run, this.#with.exits, this.#ending.limitMs);
  }

  /** A process that could not be launched again is not stopped. */
  async #runRestart(trigger: StartTrigger): Promise<void> {
    const before = this.#stops;
    try {
      if (this.#status === 'unknown') await this.#known();
      const isUp = this.#run !== undefined && this.#status !== 'stopping';
      if (isUp) await requireRelaunch(this.#with, this.#current(), trigger);
    } catch (error) {
      if (!this.#handedOver.signal.aborted)
        tellFailure(this.#block.processName, { reason: errorText(error), error, trigger }, this.#with);
      throw error;
    }
    if (before !== this.#stops) throw this.#cancelled('Restart');
    await this.#stop(OVERTAKEN);
    if (before !== this.#stops) throw this.#cancelled('Restart');
    await this.start(trigger);
  }

  async #runStart(trigger: StartTrigger, signal: AbortSignal): Promise<StartOutcome> {
    const { processName } = this.#block;
    const { host } = this.#with;
    this.#lastFailureReason = null;
    this.#lastExit = null;
    this.#move('starting');
    try {
      this.#ending.refuseBesideLeftover();
      const plan = await prepareLaunch({
        ...this.#with,
        trigger,
        signal,
        asController: block => this.#with.launchPolicy(block.configKey)?.asController?.(block),
        block: () => this.#current(),
        onWaiting: what => {
          this.#waitingFor = what;
          this.#with.onStatus(this.snapshot());
        },
      });
      await this.#with.onLaunching(plan);
      signal.throwIfAborted();
      this.#with.state.deleteCompleted(processName);
      this.#follow(await launchRun(this.#with, this.#block, plan, this.#settings()));
      await this.#observe(plan, signal);
    } catch (error) {
      throw await this.#failStart(error, signal, trigger);
    }
    if (this.#run === undefined) {
      this.#move('stopped');
      host.log.info(`${processName} has done its work, ${STARTED_BY[trigger]}`);
      return { status: 'started' };
    }
    this.#move(this.#atRest);
    host.log.info(`${processName} runs as pid ${this.#run.target.leader.pid}, ${STARTED_BY[trigger]}`);
    this.#with.onStarted(this.snapshot());
    host.emit('service_start', { processName, trigger });
    return { status: 'started' };
  }

  /**
   * Whether the configuration has the entry of the process. Asked each time, because an entry goes without a notice
   * when its plugin does.
   */
  get #hasEntry(): boolean {
    return this.#with.blocks().some(({ processName }) => processName === this.#block.processName);
  }

  #settings(): RunSettings {
    const { host } = this.#with;
    const kept = keptBlockOf(this.#block, this.stopPolicy, host.use('config.store'));
    return { target: captureTargetOf(host, this.#block), kept };
  }

  /** The block from the current configuration. */
  #current(): NamedBlock {
    const { processName } = this.#block;
    this.#block = this.#with.blocks().find(block => block.processName === processName) ?? this.#block;
    return this.#block;
  }

  #cancelled(what: 'Start' | 'Restart', cause?: unknown): Problem {
    return cancelled(what, this.#block.processName, { host: this.#with.host, hasEntry: this.#hasEntry, cause });
  }

  async #failStart(error: unknown, signal: AbortSignal, trigger: StartTrigger): Promise<unknown> {
    const { processName } = this.#block;
    // The next supervision adopts the launched process.
    if (this.#handedOver.signal.aborted) return this.#handedOver.signal.reason;
    const run = this.#run;
    if (run !== undefined) {
      await this.#ending.clear(run.target);
      // One that the host may not end goes on.
      if (!(await goesOn(run))) await run.ended;
    }
    const problem = signal.aborted ? this.#cancelled('Start', error) : refusedStart(error);
    if (!signal.aborted) {
      this.#lastFailureReason = problem.message;
      tellFailure(processName, { reason: problem.message, error, trigger }, this.#with);
      this.#with.host.emit('service.start.failed', { processName, reason: problem.message, trigger });
    }
    if (this.#stopping === undefined) this.#move(this.#atRest);
    return problem;
  }

  /**
   * The process must stay alive for two seconds (scaled by the pace), or until its own probe says that it is healthy; a
   * service that ends with exit code 0 has failed too, unless it is a one-shot.
   */
  async #observe(plan: LaunchPlan, signal: AbortSignal): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    await this.#with.onLaunched(plan, this.snapshot());
    await observe({ host: this.#with.host, ended: run.ended, snapshot: () => this.snapshot(), signal });
    // The run is recorded before anybody is told of it.
    await this.#with.state.saved();
    await this.#with.lineage.look(run.target);
    await this.#exitHandled();
    signal.throwIfAborted();
    if (this.#run !== undefined || this.#completed === true) return;
    throw failedToStay(this.#block, this.#lastExit, run.output.bestErrorLine);
  }

  async #runStop(why: symbol, hurry: AbortSignal | undefined): Promise<void> {
    const starting = this.#starting;
    this.#move('stopping');
    starting?.abort.abort(why);
    await starting?.outcome.catch(() => undefined);
    const run = this.#run;
    if (run !== undefined) {
      try {
        await this.#ending.stop(run.target, hurry);
      } catch (error) {
        // The leader may have ended although other processes of the run survived.
        await this.#exitHandled();
        if (this.#run === undefined) this.#ending.leave(run.target);
        this.#move(this.#atRest);
        throw error;
      }
      this.#handedOver.signal.throwIfAborted();
      this.#with.exits.look(run.target.leader);
      await run.ended;
    }
    this.#move('stopped');
    // A stop that was requested meanwhile has taken the place of the restart.
    tellOfStop(this.#block.processName, this.#restarting ? 'restart' : this.#stopTrigger, this.#with);
  }

  #follow(run: Run): void {
    this.#with.lineage.add(run.target);
    this.#lastExit = null;
    this.#run = { ...run, ended: run.exited.then(exit => this.#exited(exit)) };
    // A change of the block during the launch found no run to change.
    if (run.block !== this.#block) void this.reconfigure(this.#block);
  }

  /** Handles the end of the leader: ends the rest of its group, reads its output to the end, then reports the exit. */
  async #exited(how: Exit): Promise<void> {
    const run = this.#run;
    if (run === undefined || this.#handedOver.signal.aborted) return;
    const { processName } = this.#block;
    if (this.#isEnding) await this.#ending.over();
    else await this.#ending.clearRest(run.target, () => this.#outlived(how));
    if (this.#handedOver.signal.aborted) return;
    await finishRun(run, this.#with);
    // The output of many runs may end at the same time.
    await turnWithTime();
    // The record is kept, by which the next supervision finds the end of the run and the rest of its output.
    if (this.#handedOver.signal.aborted) return;
    // A stop that was requested meanwhile counts, although the process ended by itself.
    const asked = this.#isEnding;
    const exit = exitRecordOf(how, asked, this.#isOneshot);
    this.#run = undefined;
    this.#lastExit = exit;
    forgetRun(run, this.#with);
    if (this.#completed === true) keepCompletion(this.#with.state, processName, exit.at, run.blockDigest);
    const wasRunning = this.#status === 'running' || (this.#status === 'stopping' && this.#stopping === undefined);
    if (wasRunning) this.#move('stopped');
    this.#with.onExited(this.snapshot(), exit);
    if (wasRunning) tellOfExit(processName, exit, this.#with);
  }

  /** Called when the leader has ended by itself, and other processes of the run are about to be ended. */
  #outlived(how: Exit): void {
    this.#lastExit = exitRecordOf(how, false, this.#isOneshot);
    if (this.#status === 'running') this.#move('stopping');
  }

  /** The status while neither a start nor a stop is under way. */
  get #atRest(): ProcessStatus {
    if (this.#run === undefined) return 'stopped';
    return this.#lastExit === null ? 'running' : 'stopping';
  }

  /** Whether a stop was requested, or a start cancelled. */
  get #isEnding(): boolean {
    return this.#stopping !== undefined || this.#starting?.abort.signal.aborted === true;
  }

  #move(status: ProcessStatus): void {
    if (this.#status === status) return;
    this.#status = status;
    this.#firstLook.end();
    this.#with.onStatus(this.snapshot());
  }
}
