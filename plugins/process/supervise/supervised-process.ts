// One managed process: its states, its operations one at a time, its launches and exits. Only `#move` changes the
// status.
import { existsSync } from 'node:fs';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { type Host, type NamedBlock, Problem } from '#core';
import { askAgain } from '#kit/ask-again';
import { timeAt } from '#kit/boot-clock';
import { lacksDescriptors } from '#kit/descriptors';
import { errorText } from '#kit/error-text';
import { namedReason } from '#kit/named-reason';
import { turnWithTime } from '#kit/turns';
import type {
  ExitRecord,
  LaunchPlan,
  LaunchPolicy,
  ProcessSnapshot,
  ProcessStatus,
  StartOutcome,
  StartTrigger,
  StopOutcome,
  StopPolicy,
} from '../contract.ts';
import { digestOf } from '../launch/block-digest.ts';
import type { Companion } from '../launch/ports.ts';
import { prepareLaunch } from '../launch/preparation.ts';
import type { RunUsers } from '../launch/run-user.ts';
import type { Processes } from '../launch/waits.ts';
import { attempt } from './attempt.ts';
import { captureTargetOf } from './capture-target.ts';
import { removeCgroup } from './cgroup.ts';
import { type Exit, exitRecordOf } from './exit-record.ts';
import type { Holds } from './holds.ts';
import { removeInputPipe, writeInput } from './input-pipe.ts';
import type { LineageWatch } from './lineage-watch.ts';
import { adoptRun, launchRun, type Run, type RunParts } from './run.ts';
import type { FoundProcess, ProcessRecord } from './state-file.ts';
import { killProcesses, NO_GROUP, type StopTarget, stopProcesses, survivors, survivorsSince } from './stop.ts';
import { stopGraceMsOf, stopSignalOf } from './stop-policy.ts';
import type { WantedStates } from './wanted-states.ts';

const OBSERVATION_MS = 2_000;
/** Pauses before the first and later questions whether a process that starts is up. */
const FIRST_ASK_MS = 20;
const MAX_ASK_MS = 320;
/** How long a hand-over waits for a running operation. */
const HAND_OVER_LIMIT_MS = 2_000;
const TRIGGERS: Readonly<Record<StartTrigger, string>> = {
  boot: 'started at boot',
  config: 'started because the configuration file enables it',
  schedule: 'started by its schedule',
  request: 'started on request',
  restart: 'restarted on request',
  'auto-restart': 'restarted automatically',
  hold: 'started by the work that holds it',
  install: 'started after its installation',
};
/** Messages of a shutdown may be so late. */
const LIVING_MAX_AGE_MS = 500;
const CANCELLED = Symbol('start cancelled');
const OBSERVED = Symbol('start observed');

/** What all supervised processes share. */
export interface Supervision extends RunParts, Processes {
  readonly host: Host;
  readonly wanted: WantedStates;
  readonly holds: Holds;
  readonly lineage: LineageWatch;
  prepare(plan: LaunchPlan): Promise<LaunchPlan>;
  onLaunching(plan: LaunchPlan): Promise<void>;
  onLaunched(plan: LaunchPlan, snapshot: ProcessSnapshot): Promise<void>;
  onStatus(snapshot: ProcessSnapshot): void;
  onStarted(snapshot: ProcessSnapshot): void;
  onExited(snapshot: ProcessSnapshot, exit: ExitRecord): void;
  readonly portCompanion: Companion;
  readonly users: RunUsers;
  stopPolicy(configKey: string): StopPolicy | undefined;
  launchPolicy(configKey: string): LaunchPolicy | undefined;
  /** Values from other plugins for `{name}` in commands and variables. */
  placeholders(block: NamedBlock): Readonly<Record<string, unknown>>;
}

interface CurrentRun extends Run {
  /** Resolves when the exit has been handled. */
  readonly ended: Promise<void>;
}

export class SupervisedProcess {
  readonly #with: Supervision;
  #block: NamedBlock;
  #status: ProcessStatus = 'stopped';
  #run: CurrentRun | undefined;
  #starting: { readonly outcome: Promise<StartOutcome>; readonly abort: AbortController } | undefined;
  #stopping: Promise<void> | undefined;
  #restarting: Promise<void> | undefined;
  #waitingFor: string | null = null;
  #lastFailureReason: string | null = null;
  #lastExit: ExitRecord | null = null;
  /** Number of requested stops; a start that was requested before the latest of them is cancelled. */
  #stops = 0;
  /** Processes of an earlier run that could not be ended. */
  #leftover: StopTarget | undefined;
  /** Aborts when another supervision takes over; from then on this one leaves the process alone. */
  readonly #handedOver = new AbortController();

  constructor(block: NamedBlock, supervision: Supervision) {
    this.#block = block;
    this.#with = supervision;
  }

  get block(): NamedBlock {
    return this.#block;
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
    return this.#isOneshot ? this.#lastExit?.code === 0 : null;
  }

  /** Throws a Problem 409 when it does not run, or takes no input. */
  async input(text: string): Promise<void> {
    const { processName } = this.#block;
    if (this.#run === undefined)
      throw new Problem(409, `${processName} does not run; start it before it is written to`);
    await writeInput(this.#with.state.directory, this.#run.target.runId, text, processName);
  }

  /** Takes over a changed configuration. */
  async reconfigure(block: NamedBlock): Promise<void> {
    this.#block = block;
    await this.#run?.output.retarget(captureTargetOf(this.#with.host, block));
  }

  /** Throws a Problem 409 when a stop is requested before the start has begun. */
  async start(trigger: StartTrigger): Promise<StartOutcome> {
    const stops = this.#stops;
    if (this.#stopping !== undefined) await this.#stopping.catch(() => undefined);
    this.#handedOver.signal.throwIfAborted();
    if (stops !== this.#stops) throw this.#cancelled('Start');
    if (this.#status === 'running') return { status: 'already-running', waitingFor: [] };
    if (this.#status === 'unknown')
      throw new Problem(
        409,
        `${this.#block.processName} is being taken over from an earlier run; try again in a moment`,
      );
    if (this.#starting === undefined) {
      const abort = new AbortController();
      const outcome = this.#runStart(trigger, abort.signal).finally(() => {
        this.#starting = undefined;
      });
      this.#starting = { outcome, abort };
    }
    return this.#starting.outcome;
  }

  async stop({ hurry }: { readonly hurry?: AbortSignal } = {}): Promise<StopOutcome> {
    this.#stops += 1;
    // Later calls of `restart` must not join the restart that this stop cancels.
    this.#restarting = undefined;
    if (this.#stopping !== undefined) {
      await this.#stopping;
      return 'already-stopping';
    }
    if (this.#starting === undefined && this.#run === undefined) return 'not-running';
    this.#stopping = this.#runStop(hurry).finally(() => {
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

  /** Resolves when no operation is running, whether the last ones succeeded or failed. */
  async settled(): Promise<void> {
    for (;;) {
      const current = this.#restarting ?? this.#stopping ?? this.#starting?.outcome;
      if (current === undefined) return;
      await current.catch(() => undefined);
    }
  }

  /** Kills without waiting. */
  kill(): void {
    this.#starting?.abort.abort(CANCELLED);
    const target = this.#run?.target ?? this.#leftover;
    if (target !== undefined) killProcesses(target);
  }

  /** Ids of the processes that are known to live, for the messages of a shutdown. */
  livingPids(): number[] {
    const target = this.#run?.target ?? this.#leftover;
    if (target === undefined) return [];
    try {
      return survivors(target, LIVING_MAX_AGE_MS).map(stat => stat.pid);
    } catch (error) {
      if (lacksDescriptors(error)) return [];
      throw error;
    }
  }

  /**
   * Releases the process for another supervision to adopt. A start that has launched nothing yet is cancelled; a stop
   * may take a moment to end.
   */
  async handOver(reason: Problem): Promise<void> {
    if (this.#stopping !== undefined) await endedOrLimit(this.#stopping);
    this.#handedOver.abort(reason);
    if (this.#starting === undefined) return;
    this.#starting.abort.abort(reason);
    await endedOrLimit(this.#starting.outcome);
  }

  /** Continues with a process that an earlier host launched. */
  async adopt(found: FoundProcess): Promise<boolean> {
    const run = await adoptRun(this.#with, this.#block, found, captureTargetOf(this.#with.host, this.#block));
    if (run === null) return false;
    this.#follow(run);
    this.#move('running');
    return true;
  }

  /** After the leader of an earlier host's launch has ended: ends its descendants and reads its output to the end. */
  async clearAway({
    pid,
    start_time: startTime,
    boot_id: bootId,
    run_id: runId,
    cgroup,
    spool,
  }: ProcessRecord): Promise<void> {
    // Without its group, because the group id may have been reused.
    const target = {
      processName: this.#block.processName,
      leader: { pid, startTime, bootId },
      pgid: NO_GROUP,
      runId,
      cgroup,
      spoolFile: spool,
      descendants: new Map(),
    };
    if (runId !== '') await this.#end(target);
    removeCgroup(cgroup);
    const output = captureTargetOf(this.#with.host, this.#block);
    if (existsSync(spool)) await (await this.#with.capture.resume(output, spool)).finish();
  }

  /** Called before adoption, which is still to verify whether the process runs. */
  markUnknown(): void {
    this.#move('unknown');
  }

  markStopped(): void {
    this.#move('stopped');
  }

  /** What could not be launched again is not stopped. */
  async #runRestart(trigger: StartTrigger): Promise<void> {
    try {
      if (this.#run !== undefined) this.#with.state.requireRoom(this.#block.processName);
    } catch (error) {
      this.#tellFailure(errorText(error), error, trigger);
      throw error;
    }
    const stopped = this.stop();
    const stops = this.#stops;
    await stopped;
    if (stops !== this.#stops) throw this.#cancelled('Restart');
    await this.start(trigger);
  }

  async #runStart(trigger: StartTrigger, signal: AbortSignal): Promise<StartOutcome> {
    const { processName } = this.#block;
    const { host, portCompanion, users, blocks, snapshot, isReady, prepare, placeholders } = this.#with;
    this.#lastFailureReason = null;
    this.#lastExit = null;
    this.#move('starting');
    try {
      this.#refuseBesideLeftover();
      const plan = await prepareLaunch({
        host,
        trigger,
        signal,
        portCompanion,
        users,
        blocks,
        snapshot,
        isReady,
        prepare,
        placeholders,
        asController: block => this.#with.launchPolicy(block.configKey)?.asController?.(block),
        block: () => this.#current(),
        onWaiting: what => {
          this.#waitingFor = what;
          this.#with.onStatus(this.snapshot());
        },
      });
      await this.#with.onLaunching(plan);
      signal.throwIfAborted();
      this.#follow(await launchRun(this.#with, this.#block, plan, captureTargetOf(host, this.#block)));
      await this.#observe(plan, signal);
    } catch (error) {
      throw await this.#failStart(error, signal, trigger);
    }
    if (this.#run === undefined) {
      this.#move('stopped');
      host.log.info(`${processName} has done its work, ${TRIGGERS[trigger]}`);
      return { status: 'started', waitingFor: [] };
    }
    this.#move('running');
    host.log.info(`${processName} runs as pid ${this.#run.target.leader.pid}, ${TRIGGERS[trigger]}`);
    this.#with.onStarted(this.snapshot());
    host.emit('service_start', { processName, trigger });
    return { status: 'started', waitingFor: [] };
  }

  /** The block from the current configuration. */
  #current(): NamedBlock {
    const { processName } = this.#block;
    this.#block = this.#with.blocks().find(block => block.processName === processName) ?? this.#block;
    return this.#block;
  }

  #cancelled(what: 'Start' | 'Restart', cause?: unknown): Problem {
    const detail = `${what} of ${this.#block.processName} was cancelled by a stop; start it again if it is to run`;
    return new Problem(409, detail, { cause });
  }

  #refuseBesideLeftover(): void {
    const left = this.#leftover === undefined ? [] : survivors(this.#leftover);
    const pids = left.map(({ pid }) => pid).join(', ');
    const { processName } = this.#block;
    if (left.length > 0)
      throw new Problem(409, `What could not be ended of ${processName} still lives (${pids}); end that first`);
    this.#leftover = undefined;
  }

  async #failStart(error: unknown, signal: AbortSignal, trigger: StartTrigger): Promise<unknown> {
    const { processName } = this.#block;
    // The next supervision adopts what was launched.
    if (this.#handedOver.signal.aborted) return this.#handedOver.signal.reason;
    const run = this.#run;
    if (run !== undefined) {
      await this.#end(run.target);
      await run.ended;
    }
    const problem = signal.aborted ? this.#cancelled('Start', error) : asProblem(error);
    if (!signal.aborted) {
      this.#lastFailureReason = problem.message;
      this.#tellFailure(problem.message, error, trigger);
      this.#with.host.emit('service.start.failed', { processName, reason: problem.message });
    }
    if (this.#stopping === undefined) this.#move('stopped');
    return problem;
  }

  /** An automatic restart tells of its own failures. */
  #tellFailure(reason: string, error: unknown, trigger: StartTrigger): void {
    if (trigger !== 'auto-restart') this.#with.host.log.error(namedReason(this.#block.processName, reason), error);
  }

  /**
   * The process must stay alive for two seconds (scaled by the pace), or until its own probe says that it is healthy; a
   * service that ends with exit code 0 has failed too, unless it is a one-shot.
   */
  async #observe(plan: LaunchPlan, signal: AbortSignal): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    await this.#with.onLaunched(plan, this.snapshot());
    const waited = new AbortController();
    const over = AbortSignal.any([signal, waited.signal]);
    try {
      const observed = delay(this.#with.host.paced(OBSERVATION_MS), undefined, { signal: over });
      await Promise.race([run.ended, observed, this.#untilUp(over)]);
    } finally {
      // A reason of its own would cost a stack.
      waited.abort(OBSERVED);
    }
    // Services that were started together have been observed together.
    await turnWithTime();
    // Whoever hears that it runs finds it recorded.
    await this.#with.state.saved();
    signal.throwIfAborted();
    this.#with.lineage.look(run.target);
    if (this.#run !== undefined || this.#completed === true) return;
    const exit = this.#lastExit;
    const how = exit === null || exit.code === null ? (exit?.signal ?? 'unknown') : `exit code ${exit.code}`;
    const line = run.output.bestErrorLine;
    throw new Problem(
      500,
      `${this.#block.processName} failed${this.#isOneshot ? '' : ' to stay running'} (${how})${line === null ? '' : `: ${line}`}`,
    );
  }

  /** Resolves when the process's own probe says that it is healthy, or when the observation is over. */
  async #untilUp(over: AbortSignal): Promise<void> {
    for (let pauseMs = FIRST_ASK_MS; !over.aborted; pauseMs = Math.min(2 * pauseMs, MAX_ASK_MS)) {
      await delay(pauseMs, undefined, { signal: over }).catch(() => undefined);
      const asked = over.aborted ? undefined : this.#with.host.find('process.health')?.isUp(this.snapshot());
      if (await asked?.catch(() => false)) return;
    }
  }

  async #runStop(hurry: AbortSignal | undefined): Promise<void> {
    const starting = this.#starting;
    this.#move('stopping');
    starting?.abort.abort(CANCELLED);
    await starting?.outcome.catch(() => undefined);
    const run = this.#run;
    if (run !== undefined) {
      try {
        await stopProcesses(run.target, this.#stopSignal(), this.#graceMs(), hurry);
      } catch (error) {
        // The leader may have ended although other processes of the run survived.
        if (this.#run === undefined) this.#leftover = run.target;
        this.#move(this.#run === undefined ? 'stopped' : 'running');
        throw error;
      }
      this.#handedOver.signal.throwIfAborted();
      this.#with.exits.look(run.target.leader);
      await run.ended;
    }
    this.#move('stopped');
    this.#with.host.log.info(`${this.#block.processName} was stopped`);
    this.#with.host.emit('service_stop', { processName: this.#block.processName });
  }

  #follow(run: Run): void {
    this.#with.lineage.add(run.target);
    this.#run = { ...run, ended: run.exited.then(exit => this.#exited(exit)) };
  }

  /** Handles the end of the leader: ends the rest of its group, reads its output to the end, then reports the exit. */
  async #exited(how: Exit): Promise<void> {
    const run = this.#run;
    if (run === undefined || this.#handedOver.signal.aborted) return;
    const asked = this.#stopping !== undefined || this.#starting?.abort.signal.aborted === true;
    const { processName } = this.#block;
    const { host, state, onExited } = this.#with;
    if (!asked) await this.#endRest(run.target);
    await run.output
      .finish()
      .catch((error: unknown) =>
        host.log.error(`the last output of ${processName} cannot be read or cleared away`, error),
      );
    await removeInputPipe(state.directory, run.target.runId);
    const exit = exitRecordOf(how, asked, this.#isOneshot);
    this.#run = undefined;
    this.#with.lineage.delete(run.target);
    removeCgroup(run.target.cgroup);
    this.#lastExit = exit;
    state.delete(processName, run.target.runId);
    const wasRunning = this.#status === 'running';
    if (wasRunning) this.#move('stopped');
    onExited(this.snapshot(), exit);
    if (!wasRunning) return;
    const { reason, code: exitCode, signal, unexpected } = exit;
    if (!unexpected) {
      host.log.info(`${processName} has done its work`);
      return;
    }
    host.log.warn(`${processName} stopped unexpectedly: ${reason}`);
    host.emit('service.stopped.unexpectedly', { processName, reason, exitCode, signal });
  }

  async #endRest(target: StopTarget): Promise<void> {
    const failure = `whether ${target.processName} left processes behind cannot be told`;
    await attempt(this.#with.host.log, failure, async () => {
      const endedMs = performance.now();
      // Runs that end together share one look.
      await nextTurn();
      const left = await askAgain(() => survivorsSince(target, endedMs));
      if (left.length > 0) await this.#end(target);
    });
  }

  /** Never throws: processes that cannot be ended are logged, and prevent further starts. */
  async #end(target: StopTarget): Promise<void> {
    try {
      await stopProcesses(target, this.#stopSignal(), this.#graceMs());
    } catch (error) {
      this.#leftover = target;
      this.#with.host.log.error(`what ${target.processName} left behind could not be ended`, error);
    }
  }

  #move(status: ProcessStatus): void {
    if (this.#status === status) return;
    this.#status = status;
    this.#with.onStatus(this.snapshot());
  }

  #stopSignal(): NodeJS.Signals {
    return stopSignalOf(this.#block, this.#with.stopPolicy(this.#block.configKey));
  }

  #graceMs(): number {
    return stopGraceMsOf(this.#block, this.#with.stopPolicy(this.#block.configKey));
  }
}

async function endedOrLimit(operation: Promise<unknown>): Promise<void> {
  const ended = operation.catch(() => undefined);
  await Promise.race([ended, delay(HAND_OVER_LIMIT_MS, undefined, { ref: false })]);
}

function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const message = errorText(error);
  return new Problem(500, `Failed to setup project: ${message}`, { cause: error });
}
