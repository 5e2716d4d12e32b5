// Frees the buffers that rows have passed through. They lie outside of the heap of V8, which leaves 64 MB of them
// before it looks, in each thread.
import type { TablePlan } from './column-plan.ts';

const AFTER_BYTES = 4 * 1_024 * 1_024;
/** To look at the young alone takes a small part of the time, and of small rows next to nothing grows old. */
const [WHOLE_EVERY, WHOLE_EVERY_OF_SMALL] = [2, 8];

export class SpentMemory {
  readonly #wholeEvery: number;
  #bytes = 0;
  #times = 0;

  constructor({ isBinary }: Pick<TablePlan, 'isBinary'>) {
    this.#wholeEvery = isBinary ? WHOLE_EVERY_OF_SMALL : WHOLE_EVERY;
  }

  /** `bytes` are needed no more. Does nothing in a program that was started without `--expose-gc`. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < AFTER_BYTES) return;
    this.#bytes = 0;
    this.#times += 1;
    // Without a type it looks more thoroughly than for `major`.
    if (this.#times % this.#wholeEvery === 0) globalThis.gc?.();
    else globalThis.gc?.({ type: 'minor' });
  }
}
