// Collects the garbage of a start in the heap of the main thread, once the start is over. V8 itself would wait until
// the heap has grown by a third, which takes an idle host minutes, and would keep pages that are nearly empty.
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';

/** The releases of Node known to read the flag at the beginning of each collection. */
const KNOWN_RELEASES = new Set(['20', '22', '24', '26']);
const LOOK_MS = 1_000;
/** How many looks in a row must find the loop idle, because services start with pauses between them. */
const QUIET_LOOKS = 2;
const QUIET_SHARE = 0.1;
/** How many looks are made at most; in a host that is busy for longer, V8 collects by itself. */
const MOST_LOOKS = 60;
/** Two, because V8 finds out in one collection which pages are nearly empty, and empties them in the next. */
const COLLECTIONS = 2;
/** V8 begins a collection when memory outside of the heap grows by 64 MB, used or not. */
const OUTSIDE_BYTES = 72 * 2 ** 20;

export interface StartGarbageOptions {
  readonly signal: AbortSignal;
  readonly pace: number;
}

/** Resolves when the garbage was collected, or when the host was never idle or this is not possible. */
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

/** Makes V8 collect in small steps beside the program; an explicit collection would block the loop until its end. */
function collect(): void {
  setFlagsFromString('--optimize-for-size');
  try {
    // The buffer is never touched, so it takes no physical memory.
    new ArrayBuffer(OUTSIDE_BYTES);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // The process may have too little address space; V8 then collects when it has to.
  } finally {
    setFlagsFromString('--no-optimize-for-size');
  }
}

function pause(ms: number): Promise<void> {
  return delay(ms, undefined, { ref: false });
}
