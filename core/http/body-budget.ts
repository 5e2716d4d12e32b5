// The memory that the bodies of requests may take together while they are received and handled, so that several large
// ones at once cannot exhaust it.
import { memoryLimitBytes } from '../kit/memory-limit.ts';

const BUDGET_BYTES = 16 * 1024 * 1024;
/** The share of the budget for bodies above `SMALL_BYTES`, so that small bodies pass while large ones are slow. */
const LARGE_SHARE = 3 / 4;
const SMALL_BYTES = 64 * 1024;
/** A body takes several times its size while it is text and value. With 160 MB of memory it may have 8 MB. */
const SHARE_OF_MEMORY = 1 / 20;

/** The memory that the body of one request takes. */
export interface BodyShare {
  /** Takes that much more. Takes nothing and returns false when the other bodies in flight leave no room. */
  take(bytes: number): boolean;
  /** Gives back everything that this request has taken. */
  release(): void;
}

export class BodyBudget {
  /** The largest body that the memory allows, whatever limit its route sets. */
  readonly largestBytes = Math.floor(memoryLimitBytes() * SHARE_OF_MEMORY);
  readonly #largeBytes = Math.min(BUDGET_BYTES * LARGE_SHARE, this.largestBytes);
  readonly #allBytes = this.#largeBytes / LARGE_SHARE;
  #takenBytes = 0;

  open(): BodyShare {
    let ownBytes = 0;
    return {
      take: bytes => {
        // One body alone always has room; the limits of its route and of the memory bound it.
        const isAlone = this.#takenBytes === ownBytes;
        const limitBytes = ownBytes + bytes > SMALL_BYTES ? this.#largeBytes : this.#allBytes;
        if (!isAlone && this.#takenBytes + bytes > limitBytes) return false;
        this.#takenBytes += bytes;
        ownBytes += bytes;
        return true;
      },
      release: () => {
        this.#takenBytes -= ownBytes;
        ownBytes = 0;
      },
    };
  }
}
