// Finds out when a core is idle, so that as many files run at a time as the machine can bear.
import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

/** The cores that a file needs on average, since it waits most of the time. */
const CORES_OF_A_FILE = 0.4;
const LOOK_EVERY_MS = 500;

export class IdleCores {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when enough cores for one more file were idle after the last call resolved, or when `isOver` says so. */
  next(isOver: () => boolean): Promise<void> {
    this.#last = this.#last.then(async () => {
      while (!isOver()) {
        const before = idleMs();
        const startedMs = performance.now();
        await delay(LOOK_EVERY_MS);
        if ((idleMs() - before) / (performance.now() - startedMs) >= CORES_OF_A_FILE) return;
      }
    });
    return this.#last;
  }
}

/** Idle time of all cores. Waiting for a disk does not count as idle, since more files would not make a disk faster. */
function idleMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.idle, 0);
}
