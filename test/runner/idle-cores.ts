// Says when a core has nothing to do, so that as many files run at a time as the machine bears.
import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

/** What a file needs on average: it waits for the rest of its time. */
const CORES_OF_A_FILE = 0.4;
const LOOK_EVERY_MS = 500;

export class IdleCores {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when cores enough for a file idled since the one before was told, or when it is over. */
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

/** Of all cores together. One that waits for a disk is not idle: more files would not make that faster. */
function idleMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.idle, 0);
}
