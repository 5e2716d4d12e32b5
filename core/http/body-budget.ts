// The memory that the bodies of requests may take together while they are received and handled, so that several large
// ones at once cannot exhaust it.

/** A body takes several times its size while it is text and value; this fits into a host of 160 MB. */
const BUDGET_BYTES = 16 * 1024 * 1024;
/** What large bodies may take of it, so that small ones pass while those are slow. */
const LARGE_SHARE_BYTES = 12 * 1024 * 1024;
const SMALL_BYTES = 64 * 1024;

/** The part of one request. */
export interface BodyShare {
  /** Takes more; false, and takes nothing, when the bodies in flight leave no room. */
  take(bytes: number): boolean;
  /** Gives everything back. */
  release(): void;
}

export class BodyBudget {
  #takenBytes = 0;

  open(): BodyShare {
    let ownBytes = 0;
    return {
      take: bytes => {
        // One body alone always has room; the limit of its route bounds it.
        const isAlone = this.#takenBytes === ownBytes;
        const limit = ownBytes + bytes > SMALL_BYTES ? LARGE_SHARE_BYTES : BUDGET_BYTES;
        if (!isAlone && this.#takenBytes + bytes > limit) return false;
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
