// Ended runs whose last lines wait for room in their log. They are written before the lines of any later run of the
// same service, in the order in which the runs ended.
import type { CaptureSession } from './capture-session.ts';
import type { CaptureTarget } from './session-options.ts';

/**
 * Output of a service waits for room in its log, which may be on another disk, up to this size; then lines are dropped.
 */
const MAX_HELD_BYTES = 16 * 1024 * 1024;
/** A service that is started again and again would otherwise leave files without end. */
const MAX_HELD_RUNS = 8;

type Targeted = Pick<CaptureSession, 'target'>;

export class WaitingRuns {
  /** Each with its place in the order. */
  readonly #places = new Map<CaptureSession, number>();
  #lastPlace = 0;
  readonly #sessions: () => Iterable<CaptureSession>;

  /** `sessions` gives those of all runs, also of those that go on. */
  constructor(sessions: () => Iterable<CaptureSession>) {
    this.#sessions = sessions;
  }

  /** Returns the place of the run: the last one, or that which an earlier host gave it. */
  add(run: CaptureSession, place = this.#lastPlace + 1): number {
    this.#lastPlace = Math.max(this.#lastPlace, place);
    this.#places.set(run, place);
    return place;
  }

  delete(run: CaptureSession): void {
    this.#places.delete(run);
  }

  /** Whether lines of this process wait for room in this log. */
  hasAny(target: CaptureTarget): boolean {
    return this.#alike({ target }).length > 0;
  }

  /** Lets earlier runs write first. False while lines of theirs still wait. */
  async isTurnOf(run: CaptureSession): Promise<boolean> {
    for (const earlier of this.#alike(run)) {
      if (earlier === run) return true;
      if (earlier.hasMore()) await earlier.pump();
      // A hand-over ends a reading although there is more.
      if (this.#places.has(earlier)) return false;
    }
    return true;
  }

  /** Whether the run, which has so many bytes left, no longer waits for room; asked by the earliest run. */
  mayDrop(run: CaptureSession, leftBytes: number): boolean {
    const runs = this.#alike(run);
    let heldBytes = leftBytes;
    if (runs.length > 0)
      for (const other of this.#sessions()) if (other !== run && isAlike(other, run)) heldBytes += other.waitingBytes();
    return heldBytes > MAX_HELD_BYTES || runs.length > MAX_HELD_RUNS;
  }

  #alike(run: Targeted): CaptureSession[] {
    if (this.#places.size === 0) return [];
    return [...this.#places.keys()].filter(other => isAlike(other, run));
  }
}

/** Whether both are runs of the same service with the same log. */
function isAlike({ target: one }: Targeted, { target: other }: Targeted): boolean {
  return one.processName === other.processName && one.logFile === other.logFile;
}
