// Spreads work on many things, such as all services, over turns of the event loop, so that no other work waits for all
// of it.
import { setImmediate as nextTurn } from 'node:timers/promises';

const PIECE_MS = 5;
/** The time that is assumed for a caller that was let on and has not run yet. */
const UNKNOWN_MS = 2;

/** Resolves, for one caller after the other, in a turn in which earlier callers have not used up 5 ms. */
export const turnWithTime = ownTurns();

/** Makes a `turnWithTime` whose callers wait only for each other. */
export function ownTurns(): () => Promise<void> {
  let sinceMs = Number.NEGATIVE_INFINITY;
  let last: Promise<void> = Promise.resolve();
  let waiting = 0;
  let unknownMs = 0;
  return () => {
    waiting += 1;
    last = last.then(async () => {
      if (Math.max(performance.now() - sinceMs, unknownMs) >= PIECE_MS) {
        await nextTurn();
        sinceMs = performance.now();
        unknownMs = 0;
      }
      waiting -= 1;
      if (waiting > 0) unknownMs += UNKNOWN_MS;
    });
    return last;
  };
}
