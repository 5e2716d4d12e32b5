// The memory that the bodies of requests may take together while they are received and handled, so that several large
// ones at once cannot exhaust it.
import { memoryLimitBytes } from '../kit/memory-limit.ts';

const BUDGET_BYTES = 16 * 1024 * 1024;
/** What large bodies may take of it, so that small ones pass while those are slow. */
const LARGE_SHARE = 3 / 4;
const SMALL_BYTES = 64 * 1024;
/** A body takes several times its size while it is text and value. With 160 MB it may have 8 MB. */
const SHARE_OF_MEMORY = 1 / 20;

/** The part of one request. */
export interface BodyShare {
  /** Takes more; false, and takes nothing, when the bodies in flight leave no room. */
  take(bytes: number): boolean;
  /** Gives everything back. */
  release(): void;
}

export class BodyBudget {
  /** The largest body that the memory allows, whatever its route does. */
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
