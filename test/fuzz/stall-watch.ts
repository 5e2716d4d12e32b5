// Tells how long the event loop stood still for work or for a disk. The time in which other programs had the processor does
// not count, so that a busy machine is no fault.
import { readFileSync } from 'node:fs';

const PROBE_MS = 10;
const NS_PER_MS = 1e6;

export class StallWatch {
  readonly #timer: NodeJS.Timeout;
  #last = now();
  #longestMs = 0;

  constructor() {
    this.#timer = setInterval(() => {
      const last = this.#last;
      this.#last = now();
      const stoodMs = this.#last.atMs - last.atMs - (this.#last.waitedMs - last.waitedMs) - PROBE_MS;
      this.#longestMs = Math.max(this.#longestMs, stoodMs);
    }, PROBE_MS);
  }

  /** Ends the watch; the longest standstill in milliseconds. */
  end(): number {
    clearInterval(this.#timer);
    return this.#longestMs;
  }
}

/** `waitedMs`: how long this thread was ready but did not run, from the kernel's schedstat. */
function now(): { readonly atMs: number; readonly waitedMs: number } {
  const [, waited = 0] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ').map(Number);
  return { atMs: performance.now(), waitedMs: waited / NS_PER_MS };
}
