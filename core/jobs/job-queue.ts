// The jobs of one kind of one plugin: at most one active job per key and `concurrency` at a time; the others queue in
// order.
import type { z } from 'zod';
import type { Job, JobFilter, JobKind, JobRequest, JobRun, Jobs } from '../contract/job.ts';
import { Problem } from '../contract/problem.ts';
import { membersOf, refuseMisspelt } from '../kit/checked-argument.ts';
import { MAX_TIMER_MS } from '../kit/deadline.ts';
import { newId } from '../kit/new-id.ts';
import type { Call, Owner } from '../kit/owner.ts';
import { provenNowMs } from '../kit/proven-time.ts';
import { isFinal, JobEntry } from './job-entry.ts';
import { describeFailure, failureOf, outcomeOf, REASONS, type StopReason, unrecorded } from './job-failure.ts';
import { jsonOf, MAX_JSON_BYTES, parseInput, requireJsonInput, storedInput } from './job-input.ts';
import { JobRecorder } from './job-recorder.ts';
import { type FoundRecords, type JobRecords, RESULT_BYTES } from './records.ts';

const MAX_KEY_LENGTH = 300;
const MAX_QUEUED = 50;
const MAX_INTERRUPTIONS = 5;
const GRACE_MS = 10_000;
const CLOSE_MS = 4_000;
const CALLBACK_MS = 10_000;
const DAY_MS = 86_400_000;
const UNKEPT_JOBS = 20;
const REQUEST_MEMBERS = membersOf<JobRequest>({ queue: true });

export interface QueueOptions {
  readonly owner: Owner;
  readonly name: string;
  readonly kind: JobKind<z.ZodType, unknown>;
  /** null when jobs are not recorded on disk. */
  readonly records: JobRecords | null;
  /** Work from an earlier load of the plugin that has not ended; no job starts before it ends. */
  readonly leftBehind: Promise<unknown> | undefined;
}

export class JobQueue implements Jobs {
  readonly #options: QueueOptions;
  readonly #recorder: JobRecorder;
  readonly #entries = new Map<string, JobEntry>();
  /** Jobs that are recorded and wait for their turn. */
  readonly #waiting: JobEntry[] = [];
  /** Work that has not ended, including that of jobs which were given up. */
  readonly #working = new Map<JobEntry, Promise<void>>();
  readonly #listeners = new Set<(job: Job) => void>();
  #blocked = false;
  #isInputChecked = false;
  /** Once closed, work that is still running changes neither memory nor disk, because the next load has taken over. */
  #closed = false;

  constructor(options: QueueOptions) {
    this.#options = options;
    const { owner, name, records } = options;
    this.#recorder = new JobRecorder({ owner, name, records, isKept: id => this.#entries.has(id) });
    owner.signal.addEventListener('abort', () => {
      for (const entry of this.#active()) this.#stop(entry, 'interrupted');
    });
    if (options.leftBehind !== undefined) {
      this.#blocked = true;
      owner.log.warn(`jobs of ${name} wait for one that an earlier load of the plugin left behind`);
      void options.leftBehind.finally(() => {
        this.#blocked = false;
        this.#fill();
      });
    }
  }

  /** Takes over the records of an earlier host; nothing is written or run before `resume`. */
  adopt({ jobs }: FoundRecords): void {
    for (const job of jobs) {
      const entry = this.#add(job);
      if (isFinal(job.state)) continue;
      const interruptions = job.interruptions + (job.state === 'running' ? 1 : 0);
      if (this.#options.kind.resume !== true) {
        entry.move({ ...outcomeOf('interrupted'), interruptions });
      } else if (interruptions >= MAX_INTERRUPTIONS) {
        const message = `the host ended ${interruptions} times while it ran`;
        entry.move({ state: 'failed', error: { message, code: 'interrupted' }, endedAt: Date.now(), interruptions });
      } else entry.move({ ...this.#continuation(job), interruptions });
    }
  }

  /** How a job of an earlier host goes on: as queued, or as failed when this version cannot use its input. */
  #continuation({ input }: Job): Partial<Job> {
    try {
      return { state: 'queued', input: storedInput(this.#options.kind.input, input) };
    } catch (error) {
      return { state: 'failed', error: describeFailure(error), endedAt: Date.now() };
    }
  }

  /** Writes what `adopt` changed, and starts the jobs that are to continue. */
  async resume({ jobs, unreadable }: FoundRecords): Promise<void> {
    const { records, owner, name } = this.#options;
    if (records === null) return;
    for (const [file, error] of unreadable) owner.log.warn(`${file} of the jobs of ${name} is set aside`, error);
    await this.#recorder.tidy(unreadable.keys());
    for (const found of jobs) {
      if (this.#closed) return;
      const entry = this.#entries.get(found.id);
      if (entry === undefined || isFinal(found.state)) continue;
      await this.#recorder.write(entry);
      if (entry.hasEnded) entry.reject(failureOf(entry.job));
      else this.#waiting.push(entry);
    }
    this.#prune();
    this.#fill();
  }

  async start(key: string, input?: unknown, request: JobRequest = {}): Promise<Job> {
    return (await this.#enter(key, input, request)).job;
  }

  async run(key: string, input?: unknown, request: JobRequest = {}): Promise<unknown> {
    return (await this.#enter(key, input, request)).ended;
  }

  get(id: string): Job | undefined {
    return this.#entries.get(id)?.job;
  }

  list({ key, active }: JobFilter = {}): Job[] {
    return [...this.#entries.values()]
      .map(entry => entry.job)
      .filter(job => (key === undefined || job.key === key) && (active === undefined || active !== isFinal(job.state)))
      .reverse();
  }

  async result(id: string): Promise<unknown> {
    const entry = this.#entries.get(id);
    if (entry?.job.state !== 'succeeded') return null;
    return entry.result === undefined ? this.#options.records?.readResult(id) : entry.result.value;
  }

  async cancel(id: string): Promise<Job | undefined> {
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.hasEnded) return entry?.job;
    this.#stop(entry, 'cancelled');
    await entry.ended.catch(() => undefined);
    return entry.job;
  }

  watch(listener: (job: Job) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Waits for the running work, and then ends the jobs without it. Called after the owner's signal has aborted. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>(resolve => {
      timer = setTimeout(resolve, CLOSE_MS);
    });
    await Promise.race([Promise.all(this.#working.values()), late]);
    clearTimeout(timer);
    for (const entry of this.#active()) {
      entry.stopReason ??= 'interrupted';
      await this.#giveUp(entry);
    }
    await this.#recorder.writeRest();
    this.#closed = true;
    await this.#recorder.close();
  }

  /** Resolves when the present work has ended, however long that takes. */
  working(): Promise<unknown> {
    return Promise.all(this.#working.values());
  }

  /** Done for the first job only, because a start of the host opens all kinds, and to look through a schema takes long. */
  #checkInputSchema(): void {
    const { kind, name } = this.#options;
    if (kind.input !== undefined && !this.#isInputChecked) requireJsonInput(kind.input, name);
    this.#isInputChecked = true;
  }

  async #enter(key: string, input: unknown, request: JobRequest): Promise<JobEntry> {
    refuseMisspelt(Object.keys(request), REQUEST_MEMBERS, `the request of a job '${this.#options.name}'`);
    const { queue = true } = request;
    const { kind, name, owner } = this.#options;
    if (owner.signal.aborted) throw new Problem(503, `${name} is not available: ${owner.plugin} is being withdrawn`);
    if (typeof key !== 'string' || key === '' || key.length > MAX_KEY_LENGTH) {
      throw new TypeError(`the key of a job of ${name} is no text of 1 to ${MAX_KEY_LENGTH} characters`);
    }
    this.#checkInputSchema();
    const parsed = parseInput(kind.input, input, name);
    const active = [...this.#active()];
    const same = active.find(entry => entry.job.key === key);
    if (same !== undefined) {
      if (kind.duplicate === 'refuse')
        throw new Problem(409, `${name} of ${key} is ${same.job.state}; wait for its end or cancel it`);
      await same.recorded;
      return same;
    }
    this.#refuseCrowd(active, queue);
    const entry = this.#add(newJob(name, key, parsed));
    entry.recorded = this.#record(entry);
    await entry.recorded;
    this.#tell(entry.job);
    if (entry.hasEnded) return entry;
    this.#waiting.push(entry);
    this.#fill();
    return entry;
  }

  /** Writes the first record of a job. Forgets the job and throws a Problem when that fails. */
  async #record(entry: JobEntry): Promise<void> {
    const { records, name } = this.#options;
    try {
      await records?.write(() => entry.job);
    } catch (cause) {
      this.#entries.delete(entry.job.id);
      // A disk that only failed to sync has the record, which the next host would carry out.
      this.#recorder.remove(entry);
      const problem = unrecorded(name, cause);
      entry.reject(problem);
      throw problem;
    }
  }

  /** Throws a Problem when a new job would have to wait, but may not wait or too many others wait. */
  #refuseCrowd(active: readonly JobEntry[], queue: boolean): void {
    const { kind, name } = this.#options;
    const taken = Math.max(active.length, this.#working.size);
    if (!this.#blocked && taken < (kind.concurrency ?? 1)) return;
    const busy = active[0]?.job.key ?? 'a job that was given up';
    if (!queue) throw new Problem(409, `${name} is busy with ${busy}; try again later`);
    const queued = active.filter(entry => entry.job.state === 'queued').length;
    if (queued >= (kind.maxQueued ?? MAX_QUEUED))
      throw new Problem(429, `Too many jobs of ${name} wait; try again when some have ended`);
  }

  #add(job: Job): JobEntry {
    const entry: JobEntry = new JobEntry(job, {
      notify: changed => this.#tell(changed),
      save: () => void this.#recorder.write(entry, { durable: false }),
    });
    this.#entries.set(job.id, entry);
    return entry;
  }

  *#active(): Generator<JobEntry> {
    for (const entry of this.#entries.values()) if (!entry.hasEnded) yield entry;
  }

  #fill(): void {
    const { kind, owner } = this.#options;
    while (!this.#blocked && !owner.signal.aborted && this.#working.size < (kind.concurrency ?? 1)) {
      const entry = this.#waiting.shift();
      if (entry === undefined) return;
      if (entry.hasEnded) continue;
      const done = this.#work(entry).finally(() => {
        this.#working.delete(entry);
        this.#fill();
      });
      this.#working.set(entry, done);
    }
  }

  /**
   * Runs the work. An error of the work is returned from `invoke` as a value, because `invoke` would count it as a
   * fault of the plugin even if the work was stopped.
   */
  async #result(entry: JobEntry): Promise<unknown> {
    const { kind, owner, name } = this.#options;
    // Infinite, because the job's own deadline stops the work through its signal.
    const call: Call = { place: 'job', what: `job ${name} of ${entry.job.key}`, deadlineMs: Number.POSITIVE_INFINITY };
    const outcome = await owner.invoke(call, async () => {
      try {
        return { result: (await kind.run(this.#runOf(entry))) ?? null };
      } catch (error) {
        return { error };
      }
    });
    if ('error' in outcome) throw outcome.error;
    return outcome.result;
  }

  async #work(entry: JobEntry): Promise<void> {
    const { kind, owner, name } = this.#options;
    entry.move({ state: 'running', startedAt: Date.now(), endedAt: null, error: null });
    await this.#recorder.write(entry);
    const late =
      kind.deadlineMs === undefined
        ? undefined
        : setTimeout(() => this.#stop(entry, 'late'), Math.min(kind.deadlineMs, MAX_TIMER_MS)).unref();
    try {
      entry.abort.signal.throwIfAborted();
      const result = await this.#result(entry);
      if (this.#closed) return;
      jsonOf(result, RESULT_BYTES, `the result of ${name}`);
      // The work is done, whether or not its result can be recorded.
      entry.result = { value: result };
      await this.#recorder.writeResult(entry);
      await this.#end(entry, { state: 'succeeded', endedAt: Date.now() }, result);
    } catch (error) {
      if (this.#closed) return;
      if (entry.stopReason !== undefined) await this.#giveUp(entry);
      else {
        if (!(error instanceof Problem)) owner.fault('job', new Error(`job ${name}`, { cause: error }));
        await this.#end(
          entry,
          { state: 'failed', error: describeFailure(error), endedAt: Date.now() },
          undefined,
          error,
        );
      }
    } finally {
      clearTimeout(late);
    }
  }

  #runOf(entry: JobEntry): JobRun {
    const { records, name } = this.#options;
    const { id, key, input, checkpoint } = entry.job;
    return {
      id,
      key,
      input,
      checkpoint,
      signal: entry.abort.signal,
      report: progress => {
        if (entry.hasEnded || this.#closed) return;
        const details = jsonOf(progress.details, MAX_JSON_BYTES, `the progress of ${name}`);
        // A copy, because the work may change the object afterwards.
        entry.setProgress(progress.details == null ? progress : { ...progress, details: JSON.parse(details) });
      },
      save: async stored => {
        if (entry.hasEnded || this.#closed) throw new Problem(503, `${name} of ${key} has ended already`);
        // A copy, so that later records hold the checkpoint as it was saved, even if the work changes the object.
        entry.setCheckpoint(JSON.parse(jsonOf(stored, MAX_JSON_BYTES, `the checkpoint of ${name}`)));
        await records?.write(() => entry.job).catch(cause => Promise.reject(unrecorded(name, cause)));
      },
    };
  }

  #stop(entry: JobEntry, reason: StopReason): void {
    if (entry.hasEnded || entry.stopReason !== undefined) return;
    const { owner, name, kind } = this.#options;
    const { key } = entry.job;
    entry.stopReason = reason;
    const call: Call = { place: 'job', what: `the signal of ${name}`, deadlineMs: CALLBACK_MS };
    owner.invoke(call, () => entry.abort.abort(new Error(`${name} of ${key}: ${REASONS[reason]}`)));
    if (reason === 'late') owner.fault('job', new Error(`job ${name} of ${key}: ${REASONS.late}`));
    if (entry.job.state === 'queued') void this.#giveUp(entry);
    else if (reason !== 'interrupted') {
      setTimeout(() => {
        if (entry.hasEnded) return;
        owner.fault('job', new Error(`job ${name} of ${key} goes on though ${REASONS[reason]}`));
        void this.#giveUp(entry);
      }, kind.graceMs ?? GRACE_MS).unref();
    }
  }

  #giveUp(entry: JobEntry): Promise<void> {
    return entry.stopReason === 'interrupted'
      ? this.#interrupt(entry)
      : this.#end(entry, outcomeOf(entry.stopReason ?? 'cancelled'));
  }

  /**
   * Ends a job because its owner is withdrawn or the host stops: one that can be resumed is queued on disk for the next
   * host.
   */
  async #interrupt(entry: JobEntry): Promise<void> {
    const { kind, records } = this.#options;
    if (entry.hasEnded) return;
    if (kind.resume !== true || records === null) return this.#end(entry, outcomeOf('interrupted'));
    entry.move({ state: 'queued' });
    entry.reject(failureOf({ ...entry.job, ...outcomeOf('interrupted') }));
    await this.#recorder.write(entry);
  }

  /** Only the first end counts, because work that was given up may end later. */
  async #end(entry: JobEntry, change: Partial<Job>, result?: unknown, error?: unknown): Promise<void> {
    if (entry.hasEnded) return;
    entry.move(change);
    await this.#recorder.write(entry);
    if (entry.job.state === 'succeeded') entry.resolve(result);
    else entry.reject(error ?? failureOf(entry.job));
    this.#prune();
  }

  #prune(): void {
    const { kind } = this.#options;
    const { records: limit, perKey = false, days, pinned } = kind.keep ?? { records: UNKEPT_JOBS };
    const oldest = days === undefined ? 0 : provenNowMs() - days * DAY_MS;
    const counts = new Map<string, number>();
    for (const job of this.list({ active: false })) {
      const group = perKey ? job.key : '';
      const count = (counts.get(group) ?? 0) + 1;
      counts.set(group, count);
      if (count <= limit && (job.endedAt ?? 0) >= oldest) continue;
      if (pinned !== undefined && this.#isPinned(job, pinned)) continue;
      const entry = this.#entries.get(job.id);
      this.#entries.delete(job.id);
      if (entry !== undefined) this.#recorder.remove(entry);
    }
  }

  #isPinned(job: Job, pinned: (job: Job) => boolean): boolean {
    const { owner, name } = this.#options;
    try {
      return owner.invoke({ place: 'job', what: `'pinned' of ${name}`, deadlineMs: CALLBACK_MS }, () => pinned(job));
    } catch {
      // `invoke` has logged the error; a job whose pin is unknown is kept.
      return true;
    }
  }

  #tell(job: Job): void {
    const { owner, name } = this.#options;
    const call: Call = { place: 'job', what: `a listener of ${name}`, deadlineMs: CALLBACK_MS };
    for (const listener of this.#listeners) {
      const told = async (): Promise<void> => owner.invoke(call, () => listener(job));
      // `invoke` has logged the error; the other listeners are still called.
      told().catch(() => undefined);
    }
  }
}

function newJob(kind: string, key: string, input: unknown): Job {
  const now = Date.now();
  return {
    id: newId(),
    kind,
    key,
    state: 'queued',
    input,
    progress: null,
    checkpoint: null,
    error: null,
    interruptions: 0,
    queuedAt: now,
    startedAt: null,
    endedAt: null,
    updatedAt: now,
  };
}
