// One managed process: its states, its operations one at a time, its launches and exits. `#move` alone changes the status.
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type Host, type NamedBlock, Problem } from '#core';
import { parseLevel } from '#kit/log-level';
import type { CaptureTarget } from '../capture/capture.ts';
import type { CapturedOutput, CaptureThread } from '../capture/capture-thread.ts';
import type {
  ExitRecord,
  LaunchPlan,
  ProcessEventType,
  ProcessSnapshot,
  ProcessStatus,
  StartOutcome,
  StartTrigger,
  StopPolicy,
} from '../contract.ts';
import { copyEnvironmentFile } from '../launch/env-copy.ts';
import { checkLaunchable, launch } from '../launch/launch.ts';
import { createLaunchPlan } from '../launch/launch-plan.ts';
import { describeMove, resolvePorts } from '../launch/ports.ts';
import { waitForDependencies } from '../launch/waits.ts';
import type { ExitWatch } from './exit-watch.ts';
import { launchedAs, recordOf } from './launch-record.ts';
import { identify, isAlive, type ProcessIdentity, RUN_VARIABLE } from './proc-table.ts';
import type { FoundProcess, ProcessRecord, StateFile } from './state-file.ts';
import { killProcesses, NO_GROUP, type StopTarget, stopProcesses, survivors } from './stop.ts';

const OBSERVATION_MS = 2_000;
const DEFAULT_GRACE_MS = 30_000;
const CANCELLED = Symbol('start cancelled');

/** What every supervised process shares. */
export interface Supervision {
  readonly host: Host;
  readonly capture: CaptureThread;
  readonly state: StateFile;
  /** Tells the end of adopted processes. */
  readonly exits: ExitWatch;
  prepare(plan: LaunchPlan): Promise<LaunchPlan>;
  onStatus(snapshot: ProcessSnapshot): void;
  onStarted(snapshot: ProcessSnapshot): void;
  onExited(snapshot: ProcessSnapshot, exit: ExitRecord): void;
  onEvent(type: ProcessEventType, processName: string, reason: string | null): void;
  ownsLogFile(block: NamedBlock, file: string): boolean;
  /** How far above its port a kind of service takes a second one. */
  portCompanion(configKey: string): number | undefined;
  stopPolicy(configKey: string): StopPolicy | undefined;
}

interface Running {
  readonly target: StopTarget;
  readonly output: CapturedOutput;
  readonly startedAt: number;
  readonly startedMs: number;
  readonly adopted: boolean;
  readonly blockDigest: string;
  /** Resolves when the exit was dealt with. */
  readonly ended: Promise<void>;
}

export class SupervisedProcess {
  readonly #with: Supervision;
  #block: NamedBlock;
  #status: ProcessStatus = 'stopped';
  #running: Running | undefined;
  #starting: { readonly outcome: Promise<StartOutcome>; readonly abort: AbortController } | undefined;
  #stopping: Promise<void> | undefined;
  #restarting: Promise<void> | undefined;
  #waitingFor: string | null = null;
  #lastFailureReason: string | null = null;
  #lastExit: ExitRecord | null = null;
  #stoppedByUser = false;
  /** How many stops were asked for: a start that came before the last of them does not go on. */
  #stops = 0;
  /** What could not be ended. */
  #leftover: StopTarget | undefined;

  constructor(block: NamedBlock, supervision: Supervision) {
    this.#block = block;
    this.#with = supervision;
  }

  get block(): NamedBlock {
    return this.#block;
  }

  snapshot(): ProcessSnapshot {
    const running = this.#running;
    return {
      processName: this.#block.processName,
      configKey: this.#block.configKey,
      status: this.#status,
      pid: running?.target.leader.pid ?? null,
      pgid: running?.target.pgid ?? null,
      startedAt: running?.startedAt ?? null,
      startedMonotonicMs: running?.startedMs ?? null,
      waitingFor: this.#waitingFor === null ? [] : [this.#waitingFor],
      lastFailureReason: this.#lastFailureReason,
      lastExit: this.#lastExit,
      stoppedByUser: this.#stoppedByUser,
      restartRequired: running?.adopted === true && running.blockDigest !== digestOf(this.#block.block),
      adopted: running?.adopted ?? false,
    };
  }

  /** The configuration changed. */
  async reconfigure(block: NamedBlock): Promise<void> {
    this.#block = block;
    await this.#running?.output.retarget(this.#captureTarget());
  }

  /** Throws a Problem 409 when a stop is asked for before it has begun. */
  async start(trigger: StartTrigger): Promise<StartOutcome> {
    const stops = this.#stops;
    await this.#stopping?.catch(() => undefined);
    if (stops !== this.#stops) throw new Problem(409, `Start of ${this.#block.processName} was cancelled`);
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

  /** `byUser`: auto-restart leaves the process alone afterwards. */
  async stop({
    byUser = false,
    hurry,
  }: {
    byUser?: boolean;
    hurry?: AbortSignal;
  } = {}): Promise<'stopped' | 'not-running' | 'already-stopping'> {
    this.#stops += 1;
    if (byUser) this.#stoppedByUser = true;
    // What is asked for from here on is another restart.
    this.#restarting = undefined;
    if (this.#stopping !== undefined) {
      await this.#stopping;
      return 'already-stopping';
    }
    if (this.#starting === undefined && this.#running === undefined) return 'not-running';
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

  /** Kills without waiting. */
  kill(): void {
    this.#starting?.abort.abort(CANCELLED);
    if (this.#running !== undefined) killProcesses(this.#running.target);
  }

  /** pids that are still alive, for the messages of a shutdown. */
  livingPids(): number[] {
    return this.#running === undefined ? [] : survivors(this.#running.target).map(stat => stat.pid);
  }

  /** Goes on with a process that an earlier host launched. */
  async adopt(found: FoundProcess): Promise<boolean> {
    const { processName } = this.#block;
    const record = { ...found, ...launchedAs(found) };
    const leader: ProcessIdentity = { pid: record.pid, startTime: record.start_time, bootId: record.boot_id };
    if (!isAlive(leader)) return false;
    const target = { processName, leader, pgid: record.pgid, runId: record.run_id };
    const output = await this.#with.capture.resume(this.#captureTarget(), record.spool);
    const blockDigest = record.block_digest ?? digestOf(this.#block.block);
    this.#with.state.set(processName, {
      ...record,
      spool: output.spoolFile,
      block_digest: blockDigest,
      config_key: this.#block.configKey,
    });
    const ended = this.#with.exits.gone(leader).then(() => this.#exited({ code: null, signal: null }));
    this.#running = {
      target,
      output,
      startedAt: record.started_at,
      startedMs: performance.now() - (Date.now() - record.started_at * 1_000),
      adopted: true,
      blockDigest,
      ended,
    };
    this.#move('running');
    return true;
  }

  /** The leader of an earlier host's launch is gone: what it left goes too, and what it wrote is read to the end. */
  async clearAway({ pid, start_time: startTime, boot_id: bootId, run_id: runId, spool }: ProcessRecord): Promise<void> {
    // By the run alone: the number of the group may be another's by now.
    const target = { processName: this.#block.processName, leader: { pid, startTime, bootId }, pgid: NO_GROUP, runId };
    if (runId !== '') await this.#end(target);
    if (existsSync(spool)) await (await this.#with.capture.resume(this.#captureTarget(), spool)).finish();
  }

  /** A verified process may follow; until then nobody can tell. */
  markUnknown(): void {
    this.#move('unknown');
  }

  markStopped(): void {
    this.#move('stopped');
  }

  async #runRestart(trigger: StartTrigger): Promise<void> {
    const stopped = this.stop();
    const stops = this.#stops;
    await stopped;
    if (stops !== this.#stops) throw new Problem(409, `Restart of ${this.#block.processName} was cancelled`);
    await this.start(trigger);
  }

  async #runStart(trigger: StartTrigger, signal: AbortSignal): Promise<StartOutcome> {
    const { processName } = this.#block;
    if (trigger === 'request' || trigger === 'restart') this.#stoppedByUser = false;
    this.#lastFailureReason = null;
    this.#lastExit = null;
    this.#move('starting');
    try {
      this.#refuseBesideLeftover();
      let plan = await this.#prepare(trigger, signal);
      await this.#adjustPorts();
      await waitForDependencies(plan, {
        log: this.#with.host.log,
        fetch: this.#with.host.fetch,
        onWaiting: what => {
          this.#waitingFor = what;
          this.#with.onStatus(this.snapshot());
        },
      });
      // A moved port, a tap or a user changed the block meanwhile: what was set up from it is set up again.
      if (digestOf(plan.block) !== digestOf(this.#block.block)) plan = await this.#prepare(trigger, signal);
      await copyEnvironmentFile(plan);
      await checkLaunchable(plan);
      signal.throwIfAborted();
      await this.#launch(plan);
      await this.#observe(signal);
    } catch (error) {
      throw await this.#failStart(error, signal);
    }
    this.#move('running');
    this.#with.onStarted(this.snapshot());
    this.#with.onEvent('service_start', processName, null);
    return { status: 'started', waitingFor: [] };
  }

  #refuseBesideLeftover(): void {
    const left = this.#leftover === undefined ? [] : survivors(this.#leftover);
    const pids = left.map(({ pid }) => pid).join(', ');
    const { processName } = this.#block;
    if (left.length > 0)
      throw new Problem(409, `What could not be ended of ${processName} still lives (${pids}); end that first`);
    this.#leftover = undefined;
  }

  async #prepare(trigger: StartTrigger, signal: AbortSignal): Promise<LaunchPlan> {
    const plan = await this.#with.prepare(createLaunchPlan(this.#planInput(trigger, signal)));
    signal.throwIfAborted();
    return plan;
  }

  async #failStart(error: unknown, signal: AbortSignal): Promise<Problem> {
    const { processName } = this.#block;
    const running = this.#running;
    if (running !== undefined) {
      await this.#end(running.target);
      await running.ended;
    }
    const problem = signal.aborted
      ? new Problem(409, `Start of ${processName} was cancelled`, { cause: error })
      : asProblem(error);
    if (!signal.aborted) {
      this.#lastFailureReason = problem.message;
      this.#with.onEvent('service.start.failed', processName, problem.message);
    }
    if (this.#stopping === undefined) this.#move('stopped');
    return problem;
  }

  async #adjustPorts(): Promise<void> {
    const store = this.#with.host.use('config.store');
    const { processName } = this.#block;
    const block = store.findBlock(processName) ?? this.#block;
    const changes = await resolvePorts(block, store.blocks(), this.#with.portCompanion);
    if (changes.length === 0) return;
    for (const change of changes) this.#with.host.log.warn(describeMove(processName, change));
    const updates = Object.fromEntries(changes.map(({ key, to }) => [key, to]));
    try {
      await store.update({ processName, updates, persist: true, actor: 'process' });
    } catch (error) {
      throw new Problem(500, `${processName} was not started: its changed port could not be saved`, { cause: error });
    }
    this.#block = store.findBlock(processName) ?? this.#block;
  }

  async #launch(plan: LaunchPlan): Promise<void> {
    const { processName } = this.#block;
    const runId = randomUUID();
    const output = await this.#with.capture.open(this.#captureTarget());
    const startedAt = Date.now() / 1_000;
    const blockDigest = digestOf(this.#block.block);
    const launched = {
      started_at: startedAt,
      run_id: runId,
      spool: output.spoolFile,
      block_digest: blockDigest,
      config_key: this.#block.configKey,
    };
    // A host that is killed between the launch and its record is told by this which process it was.
    this.#with.state.set(processName, recordOf(launched));
    try {
      const { pid, exited } = await launch({ ...plan, env: { ...plan.env, [RUN_VARIABLE]: runId } }, output.spoolFile);
      const leader = identify(pid) ?? { pid, startTime: 0, bootId: '' };
      this.#with.state.set(processName, recordOf(launched, leader));
      this.#running = {
        target: { processName, leader, pgid: pid, runId },
        output,
        startedAt,
        startedMs: performance.now(),
        adopted: false,
        blockDigest,
        ended: exited.then(exit => this.#exited(exit)),
      };
    } catch (error) {
      this.#with.state.delete(processName, runId);
      await output.finish();
      throw error;
    }
  }

  /** The process must live for two seconds, at the shipped pace; a service that ends with 0 has failed too. */
  async #observe(signal: AbortSignal): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    const waited = new AbortController();
    await Promise.race([
      running.ended,
      delay(this.#with.host.paced(OBSERVATION_MS), undefined, { signal: AbortSignal.any([signal, waited.signal]) }),
    ]);
    waited.abort();
    if (this.#running !== undefined) return;
    const how =
      this.#lastExit?.code === null ? (this.#lastExit.signal ?? 'unknown') : `exit code ${this.#lastExit?.code}`;
    const line = running.output.bestErrorLine;
    throw new Problem(
      500,
      `${this.#block.processName} failed to stay running (${how})${line === null ? '' : `: ${line}`}`,
    );
  }

  async #runStop(hurry: AbortSignal | undefined): Promise<void> {
    const starting = this.#starting;
    this.#move('stopping');
    starting?.abort.abort(CANCELLED);
    await starting?.outcome.catch(() => undefined);
    const running = this.#running;
    if (running !== undefined) {
      try {
        await stopProcesses(running.target, this.#stopSignal(), this.#graceMs(), hurry);
      } catch (error) {
        // The leader may have gone all the same.
        if (this.#running === undefined) this.#leftover = running.target;
        this.#move(this.#running === undefined ? 'stopped' : 'running');
        throw error;
      }
      await running.ended;
    }
    this.#move('stopped');
    this.#with.onEvent('service_stop', this.#block.processName, null);
  }

  /** The leader is gone: what is left of its group goes too, its output is read to the end, then the exit is told. */
  async #exited({ code, signal }: { code: number | null; signal: string | null }): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    const asked = this.#stopping !== undefined || this.#starting?.abort.signal.aborted === true;
    const { processName } = this.#block;
    if (!asked && survivors(running.target).length > 0) await this.#end(running.target);
    await running.output
      .finish()
      .catch((error: unknown) =>
        this.#with.host.log.error(`the last output of ${processName} cannot be read or cleared away`, error),
      );
    const exit: ExitRecord = {
      code,
      signal,
      reason: describeExit(code, signal, asked),
      at: Date.now() / 1_000,
      unexpected: !asked,
    };
    this.#running = undefined;
    this.#lastExit = exit;
    this.#with.state.delete(processName, running.target.runId);
    const wasRunning = this.#status === 'running';
    if (wasRunning) this.#move('stopped');
    this.#with.onExited(this.snapshot(), exit);
    if (!wasRunning) return;
    this.#with.host.log.warn(`${processName} stopped unexpectedly: ${exit.reason}`);
    this.#with.onEvent('service.stopped.unexpectedly', processName, exit.reason);
  }

  /** Never throws: what cannot be ended is told, and nothing is started beside it. */
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

  #planInput(trigger: StartTrigger, signal: AbortSignal) {
    const root = this.#with.host.use('config.store').root();
    return { block: this.#block, root, trigger, signal, env: process.env };
  }

  #captureTarget(): CaptureTarget {
    const { processName, block, configKey } = this.#block;
    const root = this.#with.host.use('config.store').root();
    const asRoot = process.getuid?.() === 0;
    return {
      processName,
      logFile: this.#ownedLog(block.log_file),
      accessLogFile: this.#ownedLog(block.access_log_file),
      logLevel: parseLevel(typeof block.log_level === 'string' ? block.log_level : 'INFO'),
      suppressed: block.suppress_logging === true || configKey === 'dumb_api_service',
      owner: asRoot ? { uid: Number(root.puid), gid: Number(root.pgid) } : null,
    };
  }

  /** A log that others write is only read. */
  #ownedLog(file: unknown): string | null {
    return typeof file === 'string' && file !== '' && this.#with.ownsLogFile(this.#block, file) ? file : null;
  }

  #stopPolicy(): StopPolicy | undefined {
    return this.#with.stopPolicy(this.#block.configKey);
  }

  #stopSignal(): NodeJS.Signals {
    const { stop_signal: signal } = this.#block.block;
    return typeof signal === 'string' ? (signal as NodeJS.Signals) : (this.#stopPolicy()?.signal ?? 'SIGTERM');
  }

  #graceMs(): number {
    const { stop_grace_seconds: seconds } = this.#block.block;
    return typeof seconds === 'number' ? seconds * 1_000 : (this.#stopPolicy()?.graceMs ?? DEFAULT_GRACE_MS);
  }
}

function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new Problem(500, `Failed to setup project: ${message}`, { cause: error });
}

function describeExit(code: number | null, signal: string | null, asked: boolean): string {
  if (signal === 'SIGKILL' && !asked) return 'Killed by signal SIGKILL (possibly out of memory)';
  if (signal !== null) return `Killed by signal ${signal}`;
  return code === null
    ? 'Exited; the code is unknown because it was started by an earlier run'
    : `Exited with code ${code}`;
}

function digestOf(block: NamedBlock['block']): string {
  return createHash('sha256').update(JSON.stringify(block)).digest('hex').slice(0, 16);
}
