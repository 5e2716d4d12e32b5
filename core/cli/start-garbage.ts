// Gives back what a start has left in the heap of the main thread, once it is over. V8 by itself collects when the heap
// has grown by a third, which takes an idle host minutes, and keeps pages that are nearly empty.
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';

/** V8 reads the flag whenever it begins a collection; these releases of Node are known to. */
const KNOWN_RELEASES = new Set(['20', '22', '24', '26']);
const LOOK_MS = 1_000;
/** The services of a boot start with pauses between them: the loop has rested for so many looks. */
const QUIET_LOOKS = 2;
const QUIET_SHARE = 0.1;
/** A host that has work for so long collects by itself. */
const MOST_LOOKS = 60;
/** Which pages are nearly empty, and are emptied, V8 knows from the collection before. */
const COLLECTIONS = 2;
/** V8 begins to collect when 64 MB more than before lie outside of the heap, used or not. */
const OUTSIDE_BYTES = 72 * 2 ** 20;

export interface StartGarbageOptions {
  readonly signal: AbortSignal;
  readonly pace: number;
}

/** Resolves when that is done, or has turned out to be needless or impossible. */
export async function collectStartGarbage({ signal, pace }: StartGarbageOptions): Promise<void> {
  const [release = ''] = process.versions.node.split('.');
  const lookMs = LOOK_MS * pace;
  if (!KNOWN_RELEASES.has(release) || !(await rests(lookMs, signal))) return;
  for (let count = 0; count < COLLECTIONS && !signal.aborted; count += 1) {
    collect();
    await pause(lookMs);
  }
}

async function rests(lookMs: number, signal: AbortSignal): Promise<boolean> {
  let quiet = 0;
  for (let look = 0; look < MOST_LOOKS && !signal.aborted; look += 1) {
    const before = performance.eventLoopUtilization();
    await pause(lookMs);
    quiet = performance.eventLoopUtilization(before).utilization < QUIET_SHARE ? quiet + 1 : 0;
    if (quiet === QUIET_LOOKS) return true;
  }
  return false;
}

/** In small steps and beside the program: a collection on request would stop the loop from its begin to its end. */
function collect(): void {
  setFlagsFromString('--optimize-for-size');
  try {
    // Nothing touches it, so that it takes no memory.
    new ArrayBuffer(OUTSIDE_BYTES);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // The process may not have so many addresses; V8 collects when it has to.
  } finally {
    setFlagsFromString('--no-optimize-for-size');
  }
}

function pause(ms: number): Promise<void> {
  return delay(ms, undefined, { ref: false });
}
