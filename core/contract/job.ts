// Background work and schedules of plugins.
import type { z } from 'zod';
import type { Disposer } from './disposer.ts';

/**
 * `interrupted` means that the host ended or the plugin was withdrawn before the job was done. The last four are final.
 */
export type JobState = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'interrupted';

export interface JobProgress {
  /** 0 to 100; null while it is unknown. */
  readonly percent: number | null;
  readonly text: string | null;
  /** Any JSON, such as counters. */
  readonly details: unknown;
}

export interface JobFailure {
  /** One readable line without secrets. */
  readonly message: string;
  /** The code of a Problem, otherwise `failed`, `cancelled`, `late` or `interrupted`. */
  readonly code: string;
}

/** The state of one job; a new object after each change. Its result is not included, because it can be large. */
export interface Job<Input = unknown> {
  /** 32 hexadecimal digits. */
  readonly id: string;
  readonly kind: string;
  readonly key: string;
  readonly state: JobState;
  readonly input: Input;
  /** null until the first report. */
  readonly progress: JobProgress | null;
  /** The data that the work saved last by `JobRun.save`; null when it saved none. */
  readonly checkpoint: unknown;
  /** Set in the states `failed`, `cancelled` and `interrupted`. */
  readonly error: JobFailure | null;
  /** How often the host ended during a run of this job. */
  readonly interruptions: number;
  /** Milliseconds since the epoch. */
  readonly queuedAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly updatedAt: number;
}

/** What the work of a job receives. */
export interface JobRun<Input = unknown> {
  readonly id: string;
  readonly key: string;
  readonly input: Input;
  /** The data that an earlier, interrupted run of this job saved; null in a first run. */
  readonly checkpoint: unknown;
  /** Aborts when the job is cancelled or late, when its plugin is withdrawn, and when the host stops. */
  readonly signal: AbortSignal;
  /**
   * Replaces the given members of the progress. Frequent calls are cheap: listeners are called at most four times a
   * second, and the disk is written at most every five seconds. Throws an Error when the details are larger than 64 KiB
   * as JSON.
   */
  report(progress: Partial<JobProgress>): void;
  /**
   * Saves data from which the next run can continue, at most 64 KiB as JSON. Resolves when it is on disk, if records of
   * this kind are kept; rejects with a Problem 503 when it cannot be written.
   */
  save(checkpoint: unknown): Promise<void>;
}

export interface JobRetention {
  /** Number of ended jobs that are kept: the newest of the kind or, with `perKey`, of each key. */
  readonly records: number;
  readonly perKey?: boolean;
  /** Ended jobs that are older than this are removed too. Default: no limit. */
  readonly days?: number;
  /** Returns true for a job that is kept whatever the limits say. */
  readonly pinned?: (job: Job) => boolean;
}

export interface JobKind<Input extends z.ZodType, Result> {
  /**
   * Schema that checks the input before a job is queued. Its output must be JSON of at most 64 KiB: a schema with
   * dates, maps, sets or the like is an error of each start, because the work would get something else. Without a
   * schema, jobs have no input.
   */
  readonly input?: Input;
  /** The work. Its result is JSON of at most 2 MiB. The work should end soon after its signal aborts. */
  readonly run: (run: JobRun<z.output<Input>>) => Result | Promise<Result>;
  /** How many jobs run at once; the others wait, first in, first out. Default 1. */
  readonly concurrency?: number;
  /** How many jobs may wait; one more is refused with a Problem 429. Default 50. */
  readonly maxQueued?: number;
  /** What a request for a key whose job has not ended gets: that job (`share`), or a Problem 409. Default `share`. */
  readonly duplicate?: 'share' | 'refuse';
  /** A run that takes longer fails, and its signal aborts. Default: no limit. */
  readonly deadlineMs?: number;
  /**
   * How long the work may continue after its signal aborted. After that its job ends, but the work still counts as one
   * of `concurrency` until it ends too. Default 10 s.
   */
  readonly graceMs?: number;
  /**
   * Records jobs in `{config_dir}/jobs/<plugin>/<kind>`, so that they are found again after a restart. Without this,
   * jobs are kept in memory only while the plugin runs, and only the newest 20 of those that ended.
   */
  readonly keep?: JobRetention;
  /**
   * Whether jobs that waited or ran when the host ended run again, with their input and last checkpoint; needs `keep`.
   * A job fails instead when the host ended five times while it ran, or when its input does not fit the schema of a new
   * version of the plugin. Default false: such jobs become `interrupted`.
   */
  readonly resume?: boolean;
}

export interface JobRequest {
  /** Whether a job that cannot run at once may wait. False gives a Problem 409 instead. Default true. */
  readonly queue?: boolean;
}

export interface JobFilter {
  readonly key?: string;
  /** True selects jobs that have not ended, false those that have. Default: both. */
  readonly active?: boolean;
}

/** The jobs of one kind. */
export interface Jobs<Input extends z.ZodType = z.ZodType, Result = unknown> {
  /**
   * Queues a job and resolves when it is recorded. Rejects with a Problem: 422 for input that does not fit, 409 for a
   * duplicate or for a job that would have to wait but may not, 429 when too many jobs wait, 503 when the plugin is
   * withdrawn or the record cannot be written.
   */
  start(key: string, input?: z.input<Input>, request?: JobRequest): Promise<Job<z.output<Input>>>;
  /**
   * Same as `start`, but resolves with the result of the job. Rejects also with the work's own error, or with a Problem
   * 409 when the job was cancelled.
   */
  run(key: string, input?: z.input<Input>, request?: JobRequest): Promise<Result>;
  /** Reads from memory. */
  get(id: string): Job<z.output<Input>> | undefined;
  /** Reads from memory; the newest job comes first. */
  list(filter?: JobFilter): readonly Job<z.output<Input>>[];
  /** The result of a job; null unless the job succeeded and its record still exists. */
  result(id: string): Promise<Result | null>;
  /**
   * Ends a job that waits or runs. Resolves with the ended job, or with undefined when there is no such job. The state
   * is `succeeded` when the work was completed in spite of the request.
   */
  cancel(id: string): Promise<Job<z.output<Input>> | undefined>;
  /** Calls the listener with the job after each change of a job. */
  watch(listener: (job: Job<z.output<Input>>) => void): Disposer;
}

export interface ScheduleOptions {
  /** IANA name, for example `Europe/Berlin`. Default: `tz` of the configuration, otherwise local time. */
  readonly timeZone?: string;
}

/**
 * Runs at the times of a cron expression. Times that pass during a run are skipped. Times that passed while the host
 * was down or the machine asleep are not made up for, except that a timer which fires late runs once, also after the
 * clock was set ahead. When clocks go forward, a fixed time of day that does not exist runs at the first moment after
 * the gap; when they go back, it runs once, at its first occurrence. Expressions with lists, ranges, steps or `*` in
 * the seconds, minutes or hours follow the wall clock: they skip the gap and run in both of the repeated hours.
 */
export interface Schedule {
  /** The time of the next run; null after its end, or when the expression has no further time. */
  next(): Date | null;
  stop(): void;
}
