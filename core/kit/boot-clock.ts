// Moments as clock ticks since boot, like the start times of processes in /proc: setting the time of day does not move
// them. They are converted to the time of day only when they are shown, because a machine without a hardware clock sets
// its time late.
import { lacksDescriptors, withReserve } from './descriptors.ts';
import { kernelText } from './kernel-text.ts';

/** USER_HZ, fixed at 100 for every architecture that Node runs on: proc(5), time(7). */
const TICKS_PER_S = 100;
const MS_PER_S = 1_000;
const NS_PER_MS = 1_000_000;
/** Clocks that are read one after the other differ by less than this. */
const CHANGED_MS = 500;

interface Boot {
  /** Unix milliseconds of tick 0. */
  readonly atMs: number;
  /**
   * How far the time of day was ahead of the monotonic clock. It changes when it is set, and when the machine has
   * slept.
   */
  readonly aheadMs: number;
}

let known = look();

/** Unix seconds of the tick. The same at each call, until the time of day is set. */
export function timeAt(ticks: number): number {
  return Math.round((bootMs() / MS_PER_S) * TICKS_PER_S + ticks) / TICKS_PER_S;
}

export function ticksNow(): number {
  return Math.round(((Date.now() - bootMs()) / MS_PER_S) * TICKS_PER_S);
}

function bootMs(): number {
  if (Math.abs(Date.now() - performance.now() - known.aheadMs) < CHANGED_MS) return known.atMs;
  try {
    const { atMs, aheadMs } = look();
    // A sleep of the machine changes `aheadMs`, but not the moment of the boot.
    known = { atMs: Math.abs(atMs - known.atMs) < CHANGED_MS ? known.atMs : atMs, aheadMs };
  } catch (error) {
    // The next call looks again.
    if (!lacksDescriptors(error)) throw error;
  }
  return known.atMs;
}

/**
 * Reads when the machine booted. /proc/uptime counts the machine's sleep too, so it is ahead of the monotonic clock,
 * unless a container shows its own age there. Start times of processes still count from the boot of the machine, so the
 * larger clock counts. `performance.now` is read last: if this thread is held up in between, the next call looks again.
 */
function look(): Boot {
  const nowMs = Date.now();
  const upMs = Number(withReserve(() => kernelText('/proc/uptime')).split(' ', 1)[0]) * MS_PER_S;
  const awakeMs = Number(process.hrtime.bigint()) / NS_PER_MS;
  return { atMs: nowMs - Math.max(upMs, awakeMs), aheadMs: nowMs - performance.now() };
}
