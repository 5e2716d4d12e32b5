// Measures the longest piece of work of the main thread by its processor time, which tells the same whether or not other
// programs use the machine.
import { readFileSync } from 'node:fs';

const TICK_MS = 1;
const NS_PER_MS = 1e6;

/** Milliseconds of processor time of the main thread so far. */
function usedMs(): number {
  const [used] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ');
  return Number(used) / NS_PER_MS;
}

/** The returned function ends it, and gives the most that was used between two looks of a timer. */
export function meterTurns(): () => number {
  let longestMs = 0;
  let lastMs = usedMs();
  const timer = setInterval(() => {
    const nowMs = usedMs();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  }, TICK_MS);
  return () => {
    clearInterval(timer);
    return longestMs;
  };
}
