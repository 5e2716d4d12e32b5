// Starts of the boot that only the state of the machine has refused, such as a full disk: made again once that has
// passed.
import { type Disposer, type Host, Problem } from '#core';
import { causesOf } from '#kit/causes';
import type { SupervisedProcess } from '../supervise/supervised-process.ts';

/** How often it is looked whether one can be made. */
const LOOK_MS = 1_000;
const FIRST_PAUSE_MS = 2_000;
/** What has room for its record may be refused for another disk, and each attempt is told. */
const MAX_PAUSE_MS = 60_000;
/** Statuses of such refusals. */
const PASSING = [503, 507];
/** How errors of disks that are full, can only be read, or fail begin; threads pass on their message alone. */
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
  /** Ends the timer, which runs while there is any. */
  #rest: Disposer | undefined;

  /** `look` is called again and again while there is any, and makes those that can be made. */
  constructor(host: Pick<Host, 'every' | 'paced'>, look: () => void) {
    this.#host = host;
    this.#look = look;
  }

  /** Whether the time of one has come. */
  get isDue(): boolean {
    const now = performance.now();
    return [...this.#starts.values()].some(({ dueMs }) => dueMs <= now);
  }

  /** Puts it off, once more where it was before; `none` when no later attempt can succeed by itself. */
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

  /** Of a process that was started, or is to be started no more. */
  forget(process: SupervisedProcess): void {
    this.#starts.delete(process);
    if (this.#starts.size > 0) return;
    void this.#rest?.();
    this.#rest = undefined;
  }

  /** Those whose time has come, once each until they are added again. */
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
