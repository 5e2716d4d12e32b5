// Background work and schedules that a plugin owns.
import type { z } from 'zod';
import type { Disposer } from './plugin.ts';

/**
 * `interrupted`: the host ended, or the plugin was withdrawn, before the job was done. The last four are final.
 */
export type JobState = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'interrupted';

export interface JobProgress {
  /** 0 to 100; null while it cannot be told. */
  readonly percent: number | null;
  readonly text: string | null;
  /** Any JSON, for example counters. */
  readonly details: unknown;
}

export interface JobFailure {
  /** One readable line without secrets. */
  readonly message: string;
  /** The code of a Problem, else `failed`, `cancelled`, `late` or `interrupted`. */
  readonly code: string;
}

/** What is known of one job; a new object after each change. Its result is asked for separately, for it can be large. */
export interface Job<Input = unknown> {
  /** 32 hexadecimal digits. */
  readonly id: string;
  readonly kind: string;
  readonly key: string;
  readonly state: JobState;
  readonly input: Input;
  /** null until the first report. */
  readonly progress: JobProgress | null;
  /** What the work stored last to go on from, else null. */
  readonly checkpoint: unknown;
  /** Set in the states `failed`, `cancelled` and `interrupted`. */
  readonly error: JobFailure | null;
  /** How often the host ended during a run of this job. */
  readonly interruptions: number;
  /** Milliseconds since the epoch; null until it happened. */
  readonly queuedAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly updatedAt: number;
}

/** What the work of a job is given. */
export interface JobRun<Input = unknown> {
  readonly id: string;
  readonly key: string;
  readonly input: Input;
  /** What an earlier, interrupted run of this job stored; null in a first run. */
  readonly checkpoint: unknown;
  /** Aborts when the job is cancelled or late, when its plugin is withdrawn, and when the host stops. */
  readonly signal: AbortSignal;
  /**
   * Replaces the members that are given. Cheap: listeners hear of it at most four times a second, the disk at most every
   * five seconds. Throws when the details are larger than 64 KiB as JSON.
   */
  report(progress: Partial<JobProgress>): void;
  /**
   * Stores what the next run can go on from, at most 64 KiB as JSON. Resolves when it stands on the disk, if records of
   * this kind are kept; rejects with a Problem 503 when it cannot be written.
   */
  save(checkpoint: unknown): Promise<void>;
}

export interface JobRetention {
  /** Ended jobs that are kept: the newest, of the kind or, with `perKey`, of each key. */
  readonly records: number;
  readonly perKey?: boolean;
  /** Ended jobs that are older go too. Default: no limit. */
  readonly days?: number;
  /** true: this one is kept whatever the limits say. */
  readonly pinned?: (job: Job) => boolean;
}

export interface JobKind<Input extends z.ZodType, Result> {
  /** Checked before a job is queued. Its output must be JSON of at most 64 KiB. Absent: no input. */
  readonly input?: Input;
  /** The work. What it returns is the result: JSON of at most 2 MiB. Should end soon after its signal aborts. */
  readonly run: (run: JobRun<z.output<Input>>) => Result | Promise<Result>;
  /** How many run at once; the others wait, first in, first out. Default 1. */
  readonly concurrency?: number;
  /** How many may wait; one more is a Problem 429. Default 50. */
  readonly maxQueued?: number;
  /** What a request for the key of a job that has not ended gets: that job, or a Problem 409. Default `share`. */
  readonly duplicate?: 'share' | 'refuse';
  /** A run that takes longer fails, and its signal aborts. Default: no limit. */
  readonly deadlineMs?: number;
  /** Work that goes on so long after its signal is left behind: its job ends, its place stays taken. Default 10 s. */
  readonly graceMs?: number;
  /**
   * Present: jobs are recorded in `{config_dir}/jobs/<plugin>/<kind>` and found again after a restart. Absent: they are
   * known while the plugin runs, the newest 20 that ended.
   */
  readonly keep?: JobRetention;
  /**
   * true: what waited or ran when the host ended runs again, with its input and its last checkpoint. Needs `keep`. Default
   * false: it becomes `interrupted`. A job during whose runs the host ended five times fails instead.
   */
  readonly resume?: boolean;
}

export interface JobRequest {
  /** false: a Problem 409 when the job could not run at once. Default true. */
  readonly queue?: boolean;
}

export interface JobFilter {
  readonly key?: string;
  /** true: those that have not ended; false: those that have. */
  readonly active?: boolean;
}

/** The jobs of one kind. */
export interface Jobs<Input extends z.ZodType = z.ZodType, Result = unknown> {
  /**
   * Queues a job. Resolves when it is recorded. Rejects with a Problem: 422 input that does not fit, 409 a duplicate or no
   * free place, 429 too many wait, 503 the plugin is withdrawn or the record cannot be written.
   */
  start(key: string, input?: z.input<Input>, request?: JobRequest): Promise<Job<z.output<Input>>>;
  /** As `start`, and resolves with the result; rejects with the work's own error, or a Problem 409 when it was cancelled. */
  run(key: string, input?: z.input<Input>, request?: JobRequest): Promise<Result>;
  /** From memory. */
  get(id: string): Job<z.output<Input>> | undefined;
  /** From memory, the newest first. */
  list(filter?: JobFilter): readonly Job<z.output<Input>>[];
  /** null unless the job succeeded and its record is still there. */
  result(id: string): Promise<Result | null>;
  /**
   * Ends a job that waits or runs. Resolves with the job as it ended: `succeeded` when its work was done all the same;
   * undefined: there is none.
   */
  cancel(id: string): Promise<Job<z.output<Input>> | undefined>;
  /** Called with a job after each change of it. */
  watch(listener: (job: Job<z.output<Input>>) => void): Disposer;
}

export interface ScheduleOptions {
  /** An IANA name, for example `Europe/Berlin`. Default: the configuration's `tz`, else local time. */
  readonly timeZone?: string;
}

/**
 * Work at the times of a cron expression. A run that is still going on skips the times that pass. Times that passed while
 * the host was down, or the machine asleep, are not made up for, except that a timer which fires late runs once. Where clocks go
 * forward, a time of day that does not exist runs at the first moment after the gap; where they go back, it runs once, at
 * its first occurrence. Expressions with lists, ranges, steps or `*` in the seconds, minutes or hours follow the wall
 * clock: they skip the gap and run in both of the repeated hours.
 */
export interface Schedule {
  /** When it runs next; null after its end, or when the expression has no time left. */
  next(): Date | null;
  stop(): void;
}
