// Lets the event loop run between the pieces of a long reading, so that other work does not wait until its end.
import { setImmediate } from 'node:timers/promises';

/** How long one piece may hold the event loop. */
const PIECE_MS = 5;

/** Yields to the event loop when the caller has held it for `PIECE_MS`; awaited between the pieces of a reading. */
export class Breather {
  #sinceMs = performance.now();

  async breathe(): Promise<void> {
    if (performance.now() - this.#sinceMs < PIECE_MS) return;
    await setImmediate();
    this.#sinceMs = performance.now();
  }

  /** Whether `breathe` would yield; for loops whose turns are too short to await in each. */
  get isDue(): boolean {
    return performance.now() - this.#sinceMs >= PIECE_MS;
  }
}
