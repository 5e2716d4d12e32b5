// Starts of the boot that only the state of the machine has refused, such as a full disk: made again once that has passed.
import { Problem } from '#core';
import { causesOf } from '#kit/causes';
import type { SupervisedProcess } from '../supervise/supervised-process.ts';

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
  readonly #paced: (ms: number) => number;
  readonly #starts = new Map<SupervisedProcess, PutOff>();

  /** `paced`: see `Host.paced`. */
  constructor(paced: (ms: number) => number) {
    this.#paced = paced;
  }

  /** Whether the time of one has come. */
  get isDue(): boolean {
    const now = performance.now();
    return [...this.#starts.values()].some(({ dueMs }) => dueMs <= now);
  }

  /** Puts it off, once more where it was before; `none` when no later attempt can succeed by itself. */
  add(process: SupervisedProcess, error: unknown): 'new' | 'again' | 'none' {
    const before = this.#starts.get(process)?.pauseMs;
    this.#starts.delete(process);
    if (!isPassing(error)) return 'none';
    const pauseMs =
      before === undefined ? this.#paced(FIRST_PAUSE_MS) : Math.min(before * 2, this.#paced(MAX_PAUSE_MS));
    this.#starts.set(process, { pauseMs, dueMs: performance.now() + pauseMs });
    return before === undefined ? 'new' : 'again';
  }

  has(process: SupervisedProcess): boolean {
    return this.#starts.has(process);
  }

  /** Of a process that was started, or is to be started no more. */
  forget(process: SupervisedProcess): void {
    this.#starts.delete(process);
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
