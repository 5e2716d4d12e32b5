// One job in memory: its state, the promise of its end, and the pace at which listeners and the disk learn of changes.
import type { Job, JobProgress, JobState } from '../contract/job.ts';
import type { StopReason } from './job-failure.ts';

const NOTIFY_MS = 250;
const SAVE_MS = 5_000;
const MAX_TEXT = 1_000;

export interface EntryListeners {
  /** Called at once after each change of state, and at most every 250 ms after changes of progress. */
  notify(job: Job): void;
  /** Called at most every 5 s, when progress should be written to disk. */
  save(): void;
}

export class JobEntry {
  readonly abort = new AbortController();
  readonly ended: Promise<unknown>;
  /** The first record of the job; rejects when it cannot be written, and the job is not started. */
  recorded: Promise<void> = Promise.resolve();
  resolve!: (result: unknown) => void;
  reject!: (error: unknown) => void;
  stopReason: StopReason | undefined;
  /** The result of a job that succeeded, while it is not on disk. */
  result: { readonly value: unknown } | undefined;
  readonly #listeners: EntryListeners;
  #job: Job;
  #notifyTimer: NodeJS.Timeout | undefined;
  #saveTimer: NodeJS.Timeout | undefined;
  #notifiedMs = Number.NEGATIVE_INFINITY;

  constructor(job: Job, listeners: EntryListeners) {
    this.#job = job;
    this.#listeners = listeners;
    this.ended = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // Without this, a failing job that nobody awaits would cause an unhandled rejection.
    this.ended.catch(() => undefined);
  }

  get job(): Job {
    return this.#job;
  }

  get hasEnded(): boolean {
    return isFinal(this.#job.state);
  }

  /** Changes the state and notifies listeners at once. */
  move(change: Partial<Job>): void {
    clearTimeout(this.#saveTimer);
    this.#saveTimer = undefined;
    this.#job = { ...this.#job, ...change, updatedAt: Date.now() };
    this.#notify();
  }

  setProgress(change: Partial<JobProgress>): void {
    const before = this.#job.progress;
    // A plugin in JavaScript may pass a member that is undefined.
    const {
      percent = before?.percent ?? null,
      text = before?.text ?? null,
      details = before?.details ?? null,
    } = change;
    const progress = {
      percent: percent === null || !Number.isFinite(percent) ? null : Math.min(100, Math.max(0, percent)),
      text: text === null ? null : String(text).slice(0, MAX_TEXT),
      details,
    };
    this.#job = { ...this.#job, progress, updatedAt: Date.now() };
    const waitMs = this.#notifiedMs + NOTIFY_MS - performance.now();
    if (waitMs <= 0) this.#notify();
    else this.#notifyTimer ??= setTimeout(() => this.#notify(), waitMs).unref();
    this.#saveTimer ??= setTimeout(() => {
      this.#saveTimer = undefined;
      this.#listeners.save();
    }, SAVE_MS).unref();
  }

  setCheckpoint(checkpoint: unknown): void {
    this.#job = { ...this.#job, checkpoint, updatedAt: Date.now() };
  }

  #notify(): void {
    clearTimeout(this.#notifyTimer);
    this.#notifyTimer = undefined;
    this.#notifiedMs = performance.now();
    this.#listeners.notify(this.#job);
  }
}

export function isFinal(state: JobState): boolean {
  return state !== 'queued' && state !== 'running';
}
