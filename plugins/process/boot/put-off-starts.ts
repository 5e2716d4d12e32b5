// Starts of the boot that failed because of the machine, such as a full disk, and are made again until they succeed.
import { type Disposer, type Host, Problem } from '#core';
import { causesOf } from '#kit/causes';
import type { SupervisedProcess } from '../supervise/supervised-process.ts';

/** Interval at which due starts are looked for. */
const LOOK_MS = 1_000;
const FIRST_PAUSE_MS = 2_000;
/** Attempts are logged, so they become rare for a start that keeps failing on another disk than that of the records. */
const MAX_PAUSE_MS = 60_000;
/** Statuses of Problems that may pass by themselves. */
const PASSING = [503, 507];
/** Begin of messages about full, read-only or failing disks; errors that come from threads keep only their message. */
const OF_DISK = /^(?:ENOSPC|EDQUOT|EROFS|EIO)\b/;

interface PutOff {
  readonly pauseMs: number;
  /** Monotonic time of the next attempt; infinite during one. */
  readonly dueMs: number;
}

export class PutOffStarts {
  readonly #host: Pick<Host, 'every' | 'paced'>;
  readonly #look: () => void;
  readonly #starts = new Map<SupervisedProcess, PutOff>();
  /** Ends the timer, which runs while any start is put off. */
  #rest: Disposer | undefined;

  /** `look` is called at intervals while any start is put off, and is to make the starts that are due. */
  constructor(host: Pick<Host, 'every' | 'paced'>, look: () => void) {
    this.#host = host;
    this.#look = look;
  }

  /** Whether any start is due. */
  get isDue(): boolean {
    const now = performance.now();
    return [...this.#starts.values()].some(({ dueMs }) => dueMs <= now);
  }

  /**
   * Puts a failed start off, `again` when it was put off before; `none` when a later attempt cannot succeed by itself.
   */
  add(process: SupervisedProcess, error: unknown): 'new' | 'again' | 'none' {
    const before = this.#starts.get(process)?.pauseMs;
    if (!isPassing(error)) {
      this.forget(process);
      return 'none';
    }
    const pauseMs = Math.min(before === undefined ? FIRST_PAUSE_MS : before * 2, MAX_PAUSE_MS);
    this.#starts.set(process, { pauseMs, dueMs: performance.now() + this.#host.paced(pauseMs) });
    this.#rest ??= this.#host.every(this.#host.paced(LOOK_MS), this.#look);
    return before === undefined ? 'new' : 'again';
  }

  has(process: SupervisedProcess): boolean {
    return this.#starts.has(process);
  }

  /** Called when a process was started, or is no longer to be started. */
  forget(process: SupervisedProcess): void {
    this.#starts.delete(process);
    if (this.#starts.size > 0) return;
    void this.#rest?.();
    this.#rest = undefined;
  }

  /** The processes whose starts are due, each of them once until it is added again. */
  take(): SupervisedProcess[] {
    const now = performance.now();
    const due = [...this.#starts].filter(([, { dueMs }]) => dueMs <= now);
    for (const [process, { pauseMs }] of due) this.#starts.set(process, { pauseMs, dueMs: Number.POSITIVE_INFINITY });
    return due.map(([process]) => process);
  }
}

function isPassing(error: unknown): boolean {
  for (const cause of causesOf(error)) {
    if (cause instanceof Problem && PASSING.includes(cause.status)) return true;
    if (cause instanceof Error && OF_DISK.test(cause.message)) return true;
  }
  return false;
}
