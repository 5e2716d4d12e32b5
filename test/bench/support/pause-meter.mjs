// Loaded into a host before its own code: tells its parent on request how long the event loop was held longest since
// the last request. Time in which the loop could have run but other programs had the processor does not count.
import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const TICK_MS = 5;
const NS_PER_MS = 1e6;

/** Milliseconds that the main thread has waited for a processor so far. */
function waitedMs() {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')[1]) / NS_PER_MS;
}

if (isMainThread) {
  let longestMs = 0;
  let lastMs = performance.now() - waitedMs();
  setInterval(() => {
    const nowMs = performance.now() - waitedMs();
    longestMs = Math.max(longestMs, nowMs - lastMs - TICK_MS);
    lastMs = nowMs;
  }, TICK_MS).unref();
  process.on('message', () => {
    process.send?.(longestMs);
    longestMs = 0;
  });
  process.channel?.unref();
}
