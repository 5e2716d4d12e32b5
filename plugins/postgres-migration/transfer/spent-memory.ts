// Frees the buffers that rows have passed through. They lie outside the heap of V8, which lets 64 MB of them gather in
// each thread before it collects them.
import type { TablePlan } from './column-plan.ts';

const AFTER_BYTES = 4 * 1_024 * 1_024;
/**
 * How many collections there are for each full one. A minor collection takes a small part of the time, and hardly any
 * buffer of small rows reaches the old generation.
 */
const [WHOLE_EVERY, WHOLE_EVERY_OF_SMALL] = [2, 8];

export class SpentMemory {
  readonly #wholeEvery: number;
  #bytes = 0;
  #times = 0;

  constructor({ isBinary }: Pick<TablePlan, 'isBinary'>) {
    this.#wholeEvery = isBinary ? WHOLE_EVERY_OF_SMALL : WHOLE_EVERY;
  }

  /** Counts `bytes` that are no longer needed. Does nothing in a program that was started without `--expose-gc`. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < AFTER_BYTES) return;
    this.#bytes = 0;
    this.#times += 1;
    // Without a type the collection is more thorough than with `major`.
    if (this.#times % this.#wholeEvery === 0) globalThis.gc?.();
    else globalThis.gc?.({ type: 'minor' });
  }
}
