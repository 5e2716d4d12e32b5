// Keeps V8's young generation at its first size while a host starts. What a start makes in passing would let it grow to
// three times 16 MB, which then stay for minutes; a start is not faster with it.
import { setFlagsFromString } from 'node:v8';
import type { Worker } from 'node:worker_threads';

/**
 * V8 reads the flag whenever it may grow the young generation; these releases of Node are known to take 1 for "stay".
 */
const KNOWN_RELEASES = new Set(['20', '22', '24', '26']);
const STAY = 1;
/** V8's own factor, which it sets again for all threads whenever one begins. */
const GROW = 2;
/** Until a thread says that it has begun, which takes a busy machine long. */
const AGAIN_MS = 1;

/** The returned function lets it grow again, as many requests at a time are cheaper with it. */
export function holdYoungGeneration(): () => void {
  const [release = ''] = process.versions.node.split('.');
  if (!KNOWN_RELEASES.has(release)) return () => undefined;
  let isHeld = true;
  const hold = (): void => {
    if (isHeld) setFactor(STAY);
  };
  const onWorker = (worker: Worker): void => {
    const again = setInterval(hold, AGAIN_MS).unref();
    const begun = (): void => {
      clearInterval(again);
      hold();
    };
    worker.once('online', begun).once('exit', begun);
  };
  process.on('worker', onWorker);
  hold();
  return () => {
    isHeld = false;
    process.off('worker', onWorker);
    setFactor(GROW);
  };
}

function setFactor(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}
