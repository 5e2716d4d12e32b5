// Keeps V8's young generation at its initial size while a host starts. The short-lived objects of a start would let it
// grow to three times 16 MB, which then stay for minutes and do not make the start faster.
import { setFlagsFromString } from 'node:v8';
import type { Worker } from 'node:worker_threads';

/** The releases of Node known to read the flag whenever V8 may grow the young generation, and not to grow it with 1. */
const KNOWN_RELEASES = new Set(['20', '22', '24', '26']);
const STAY = 1;
/** V8's default factor, which V8 sets again for all threads whenever a thread begins. */
const GROW = 2;
/** How often the factor is set again until a new thread has begun, which takes long on a busy machine. */
const AGAIN_MS = 1;

/** The returned function lets it grow again, because a larger one makes many concurrent requests cheaper. */
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
