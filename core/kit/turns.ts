// What is done for many things at one time, as for all services, is spread over turns of the event loop, so that nobody
// waits for all of it.
import { setImmediate as nextTurn } from 'node:timers/promises';

const PIECE_MS = 5;

/** Resolves, for one caller after the other, in a turn in which earlier callers have not used up 5 ms. */
export const turnWithTime = ownTurns();

/** Same as `turnWithTime`, for callers who wait for none but each other. */
export function ownTurns(): () => Promise<void> {
  let sinceMs = Number.NEGATIVE_INFINITY;
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.then(async () => {
      if (performance.now() - sinceMs < PIECE_MS) return;
      await nextTurn();
      sinceMs = performance.now();
    });
    return last;
  };
}
