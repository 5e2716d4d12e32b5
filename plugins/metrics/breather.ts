// Lets the event loop run between pieces of a long reading, so that nobody waits for the whole of it.
import { setImmediate } from 'node:timers/promises';

/** Well below the pause that others may notice. */
const PIECE_MS = 5;

/** Awaited between the pieces of a work; it yields when the work has held the loop for some milliseconds. */
export class Breather {
  #sinceMs = performance.now();

  async breathe(): Promise<void> {
    if (performance.now() - this.#sinceMs < PIECE_MS) return;
    await setImmediate();
    this.#sinceMs = performance.now();
  }

  /** Whether it is time to breathe, for loops whose turns are too short to await in each. */
  get isDue(): boolean {
    return performance.now() - this.#sinceMs >= PIECE_MS;
  }
}
