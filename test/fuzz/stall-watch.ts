// Tells how long the event loop stood still. Time in which other programs had the processor does not count, so that a
// busy machine is no fault, nor does what the test itself computes.
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const PROBE_MS = 10;
const NS_PER_MS = 1e6;

export interface Stall {
  /** The most processor time of this thread between two turns of the loop. */
  readonly busyMs: number;
  /**
   * The longest time of a turn in which this thread neither ran nor stood in line for a processor, as behind a disk.
   */
  readonly blockedMs: number;
}

export class StallWatch {
  readonly #timer: NodeJS.Timeout;
  #last = now();
  #exemptMs = 0;
  #busyMs = 0;
  #blockedMs = 0;

  constructor() {
    this.#timer = setInterval(() => this.#look(), PROBE_MS);
  }

  /** Does work that is the test's own, whose time is nobody's fault. */
  exempt<Value>(work: () => Value): Value {
    const before = now().ranMs;
    try {
      return work();
    } finally {
      this.#exemptMs += now().ranMs - before;
    }
  }

  /** Ends the watch after one more turn of the loop. */
  async end(): Promise<Stall> {
    await delay(PROBE_MS);
    this.#look();
    clearInterval(this.#timer);
    return { busyMs: Math.round(this.#busyMs), blockedMs: Math.round(this.#blockedMs) };
  }

  #look(): void {
    const last = this.#last;
    this.#last = now();
    const ranMs = this.#last.ranMs - last.ranMs;
    const waitedMs = this.#last.waitedMs - last.waitedMs;
    this.#busyMs = Math.max(this.#busyMs, ranMs - this.#exemptMs);
    this.#blockedMs = Math.max(this.#blockedMs, this.#last.atMs - last.atMs - ranMs - waitedMs - PROBE_MS);
    this.#exemptMs = 0;
  }
}

/** For how long this thread has run on a processor. */
export function ranMs(): number {
  return now().ranMs;
}

/**
 * `ranMs`: how long this thread ran; `waitedMs`: how long it was ready but did not run. From the kernel's schedstat.
 */
function now(): { readonly atMs: number; readonly ranMs: number; readonly waitedMs: number } {
  const text = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8');
  const [ran = 0, waited = 0] = text.split(' ').map(Number);
  return { atMs: performance.now(), ranMs: ran / NS_PER_MS, waitedMs: waited / NS_PER_MS };
}
