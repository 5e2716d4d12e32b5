// What is done for many things at one time, as for all services, is spread over turns of the event loop, so that nobody
// waits for all of it.
import { setImmediate as nextTurn } from 'node:timers/promises';

const PIECE_MS = 5;
/** What somebody may take who was let on before others and has not begun yet, as far as anybody knows then. */
const UNKNOWN_MS = 2;

/** Resolves, for one caller after the other, in a turn in which earlier callers have not used up 5 ms. */
export const turnWithTime = ownTurns();

/** Same as `turnWithTime`, for callers who wait for none but each other. */
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
