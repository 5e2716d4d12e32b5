// The jobs of all operations: one that writes and two that read run at a time, the others wait in order. A writing call
// whose client waits for the result is recorded as a job too, so that it can be mended when it is interrupted.
import { randomUUID } from 'node:crypto';
import { type Host, type JobRun, type Jobs, Problem } from '#core';
import { endedOrLate } from '#kit/deadline';
import { newId } from '#kit/new-id';
import type { TaskName, TaskProgress } from '../tasks/task.ts';
import type { TaskProcesses } from '../tasks/task-process.ts';
import { type CutOffJob, Leftovers } from './leftovers.ts';
import type { Operation, OperationName, OperationOptions } from './operation.ts';
import { type JobInput, jobInput, type SymlinkJob } from './symlink-job.ts';

const MAX_WAITING = 50;
const READERS = 2;
/** How many reading calls may run whose clients wait for the result; these are not jobs. */
const MAX_READING_CALLS = 4;
const KEEP = { records: 500, days: 30 };
/** How long a task that writes may take to end in order before its child is killed. */
const STOP_MS = 3_000;
/** How long a call that writes waits until what an earlier operation has left is mended. */
const MENDING_MS = 10_000;

export interface JobOrder {
  readonly operation: OperationName;
  /** The name under which the job is filed. */
  readonly processName: string;
  readonly options: OperationOptions;
}

export class SymlinkJobs {
  readonly #host: Host;
  readonly #processes: TaskProcesses;
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #leftovers: Leftovers;
  #writing!: Jobs<typeof jobInput>;
  #reading!: Jobs<typeof jobInput>;
  readonly #openedAt = Date.now();
  #readingCalls = 0;

  private constructor(host: Host, processes: TaskProcesses, operations: readonly Operation[]) {
    this.#host = host;
    this.#processes = processes;
    this.#operations = new Map(operations.map(operation => [operation.name, operation]));
    this.#leftovers = new Leftovers(host, processes);
  }

  /** Reads the records of jobs of earlier hosts. */
  static async open(host: Host, processes: TaskProcesses, operations: readonly Operation[]): Promise<SymlinkJobs> {
    const jobs = new SymlinkJobs(host, processes, operations);
    const kind = { input: jobInput, run: (run: JobRun<JobInput>) => jobs.#run(run), keep: KEEP };
    jobs.#writing = await host.jobs('writing', { ...kind, maxQueued: MAX_WAITING });
    jobs.#reading = await host.jobs('reading', { ...kind, maxQueued: MAX_WAITING, concurrency: READERS });
    return jobs;
  }

  /** Mends what interrupted and failed jobs have left. No job that writes begins before. */
  mend(): Promise<void> {
    // A job without a checkpoint has had no child.
    const ended = this.#writing.list({ active: false }).filter(({ checkpoint }) => checkpoint !== null);
    const cutOff = ended.filter(({ state }) => state === 'interrupted');
    // The child of a failed job is gone, so its checkpoint is not needed.
    const failed = ended.filter(({ state }) => state === 'failed');
    return this.#leftovers.mend([
      ...cutOff.map(job => this.#cutOff(job, job.checkpoint)),
      ...failed.map(job => this.#cutOff(job, null)),
    ]);
  }

  /** Rejects with a Problem when the order could not begin. */
  async check(order: JobOrder, signal: AbortSignal): Promise<void> {
    const { checkTask: task, prepare } = this.#operation(order.operation);
    await this.read(async end => {
      const input = await prepare(order.options);
      await this.#processes.run({ task, input, id: newId(), signal: end });
    }, signal);
  }

  /** Queues a job. Rejects with a Problem 429 when too many wait. */
  async start(order: JobOrder, trigger: 'job' | 'schedule'): Promise<SymlinkJob> {
    const waiting = [...this.#writing.list({ active: true }), ...this.#reading.list({ active: true })];
    if (waiting.filter(({ state }) => state === 'queued').length >= MAX_WAITING)
      throw new Problem(429, `${MAX_WAITING} symlink jobs wait already; try again when some have ended.`);
    return this.#jobsFor(order).start(randomUUID(), { ...order, trigger });
  }

  /**
   * Runs an order at once and resolves with the result. An order that writes is recorded as a job and goes on when
   * `signal` aborts; it is refused with a Problem 409 while another one writes.
   */
  async call(order: JobOrder, signal: AbortSignal): Promise<unknown> {
    const operation = this.#operation(order.operation);
    if (operation.writes(order.options)) {
      // Right after a start, what an interrupted operation has left is usually mended within a second.
      if (!this.#processes.hasAbandoned) await endedOrLate(this.#leftovers.whenMended(signal), MENDING_MS);
      this.#refuseWhileWriting();
      return this.#writing.run(randomUUID(), { ...order, trigger: 'request' }, { queue: false });
    }
    return this.read(async end => {
      const input = await operation.prepare(order.options);
      return this.#processes.run({ task: operation.task, input, id: newId(), signal: end });
    }, signal);
  }

  /** Throws a Problem 409 that names the job that writes, if there is one. */
  #refuseWhileWriting(): void {
    const waiting = this.#writing.list({ active: true });
    const active = waiting.find(({ state }) => state === 'running') ?? waiting[0];
    if (active !== undefined)
      throw new Problem(
        409,
        `${active.input.operation} of ${active.input.processName} is ${active.state}; try again when it has ended.`,
      );
    if (!this.#leftovers.isMended && !this.#processes.hasAbandoned)
      throw new Problem(
        409,
        'What an interrupted symlink operation has left is still being mended; try again later, or see to its mount.',
      );
    if (this.#processes.hasAbandoned)
      throw new Problem(
        409,
        'An earlier symlink operation has not ended, for its file system does not answer; see to its mount.',
      );
  }

  /** Runs a task that only reads, for a client that waits. */
  readTask(task: TaskName, input: unknown, signal: AbortSignal): Promise<unknown> {
    return this.read(end => this.#processes.run({ task, input, id: newId(), signal: end }), signal);
  }

  /** Runs a reading call for a client that waits. The signal of `work` also aborts when this plugin is withdrawn. */
  async read<Value>(work: (signal: AbortSignal) => Promise<Value>, signal: AbortSignal): Promise<Value> {
    if (this.#readingCalls >= MAX_READING_CALLS)
      throw new Problem(429, 'Too many symlink requests are being worked on; try again when some have ended.');
    this.#readingCalls += 1;
    try {
      return await work(AbortSignal.any([signal, this.#host.signal]));
    } finally {
      this.#readingCalls -= 1;
    }
  }

  get(id: string): SymlinkJob | undefined {
    return this.#writing.get(id) ?? this.#reading.get(id);
  }

  /** null unless the job has succeeded. */
  async result(id: string): Promise<unknown> {
    return (await this.#writing.result(id)) ?? (await this.#reading.result(id));
  }

  /** The job of a process that changed last; an empty `operation` stands for any. */
  latest(processName: string, operation: string, activeOnly: boolean): SymlinkJob | undefined {
    const name = folded(processName);
    let latest: SymlinkJob | undefined;
    for (const job of [...this.#writing.list(), ...this.#reading.list()]) {
      if (folded(job.input.processName) !== name || (operation !== '' && job.input.operation !== operation)) continue;
      if (activeOnly && job.endedAt !== null) continue;
      if (job.updatedAt > (latest?.updatedAt ?? 0)) latest = job;
    }
    return latest;
  }

  /** The job of a process that its schedule has started last. */
  lastScheduled(processName: string): SymlinkJob | undefined {
    const jobs = [...this.#writing.list(), ...this.#reading.list()];
    return jobs
      .filter(({ input }) => input.trigger === 'schedule' && input.processName === processName)
      .reduce<SymlinkJob | undefined>((last, job) => (job.queuedAt >= (last?.queuedAt ?? 0) ? job : last), undefined);
  }

  /** Jobs of an earlier host that this one has found interrupted. */
  found(): readonly SymlinkJob[] {
    const all = [...this.#writing.list({ active: false }), ...this.#reading.list({ active: false })];
    return all.filter(({ state, endedAt }) => state === 'interrupted' && (endedAt ?? 0) >= this.#openedAt);
  }

  watch(listener: (job: SymlinkJob) => void): void {
    this.#writing.watch(listener);
    this.#reading.watch(listener);
  }

  /** The path of the journal that undoes a job; undefined for a job without one. */
  journal({ id, input }: Pick<SymlinkJob, 'id' | 'input'>): string | undefined {
    return this.#operations.get(input.operation)?.journal?.(input.options, id);
  }

  #cutOff(job: Pick<SymlinkJob, 'id' | 'input'>, checkpoint: unknown): CutOffJob {
    const { operation, processName } = job.input;
    const recovery = this.#operations.get(operation)?.recovery?.(job.input.options, job.id);
    return { id: job.id, name: `${operation} of ${processName}`, checkpoint, recovery };
  }

  #jobsFor({ operation, options }: JobOrder): Jobs<typeof jobInput> {
    return this.#operation(operation).writes(options) ? this.#writing : this.#reading;
  }

  #operation(name: string): Operation {
    const operation = this.#operations.get(name);
    if (operation === undefined) throw new Error(`there is no operation ${name}`);
    return operation;
  }

  async #run(run: JobRun<JobInput>): Promise<unknown> {
    const { id, input, signal } = run;
    const operation = this.#operation(input.operation);
    const writes = operation.writes(input.options);
    const report = (progress: TaskProgress): void => run.report({ text: progress.stage, details: progress });
    report({ stage: 'collecting', ...operation.begins });
    if (writes) {
      await this.#leftovers.whenMended(signal);
      await this.#processes.whenGone(signal);
    }
    const task = { task: operation.task, input: await operation.prepare(input.options), id, signal, report };
    if (!writes) return this.#processes.run(task);
    const began = async (pid: number): Promise<void> => run.save(await this.#leftovers.childOf(pid));
    try {
      return await this.#processes.run({ ...task, stopMs: STOP_MS, writes, began });
    } catch (error) {
      const isStalled = error instanceof Problem && error.code === 'stalled';
      // A child that reports a Problem itself has ended in order.
      if (error instanceof Problem && !isStalled) {
        if (!isUnfinished(error)) await this.#leftovers.noteNothingLeft(run);
        throw error;
      }
      const mended = this.#leftovers.mendAfter(this.#cutOff(run, null));
      if (!isStalled) await mended;
      throw error;
    }
  }
}

/** Whether a child that ended in order may have left its journal as it was, for the next start. */
function isUnfinished({ status, code }: Problem): boolean {
  return status === 500 || code === 'unfinished';
}

function folded(name: string): string {
  return name.toLowerCase().replaceAll(/\s/g, '');
}
