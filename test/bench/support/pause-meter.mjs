// Loaded into a host before its own code. On request it tells its parent the longest pause of the event loop since the
// last request, or collects the garbage of the main thread. It can be stopped until the next request, because it wakes
// the loop. Time in which the loop was ready but other programs had the processor does not count.
import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

const TICK_MS = 5;
const NS_PER_MS = 1e6;

/** Milliseconds for which the main thread has waited for a processor so far. */
function waitedMs() {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')[1]) / NS_PER_MS;
}

if (isMainThread) {
  let longestMs = 0;
  let lastMs = 0;
  let timer;
  const begin = () => {
    longestMs = 0;
    lastMs = performance.now() - waitedMs();
    timer ??= setInterval(look, TICK_MS).unref();
  };
  const look = () => {
    const nowMs = performance.now() - waitedMs();
    longestMs = Math.max(longestMs, nowMs - lastMs - TICK_MS);
    lastMs = nowMs;
  };
  process.on('message', what => {
    if (what === 'rest') {
      clearInterval(timer);
      timer = undefined;
    } else if (what === 'collect') {
      setFlagsFromString('--expose-gc');
      runInNewContext('gc')();
      process.send?.(0);
    } else {
      process.send?.(longestMs);
      begin();
    }
  });
  process.channel?.unref();
  begin();
}
