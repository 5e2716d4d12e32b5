// Measures how long the main thread holds the event loop: the longest time between two ticks of a timer, without time
// in which it waited for a processor, and the most processor time between two ticks.
import { readFileSync } from 'node:fs';

const TICK_MS = 1;
const NS_PER_MS = 1e6;

export interface LongestTurn {
  readonly heldMs: number;
  readonly processorMs: number;
}

/** Milliseconds in which the main thread has had a processor so far, and in which it has waited for one. */
function timesMs(): { readonly used: number; readonly waited: number } {
  const [used, waited] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ');
  return { used: Number(used) / NS_PER_MS, waited: Number(waited) / NS_PER_MS };
}

/** Starts a measurement; the returned function ends it. */
export function meterTurns(): () => LongestTurn {
  let longest: LongestTurn = { heldMs: 0, processorMs: 0 };
  const look = () => {
    const { used, waited } = timesMs();
    return { used, free: performance.now() - waited };
  };
  let last = look();
  const timer = setInterval(() => {
    const now = look();
    longest = {
      heldMs: Math.max(longest.heldMs, now.free - last.free - TICK_MS),
      processorMs: Math.max(longest.processorMs, now.used - last.used),
    };
    last = now;
  }, TICK_MS);
  return () => {
    clearInterval(timer);
    return longest;
  };
}
