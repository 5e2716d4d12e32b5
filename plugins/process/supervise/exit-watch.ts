// Notices the end of processes that are not children of this host, by polling, because only a parent is notified.
import { lacksDescriptors } from '#kit/descriptors';
import { isAlive, type ProcessIdentity } from './proc-stat.ts';

export class ExitWatch {
  readonly #waiting = new Map<ProcessIdentity, () => void>();
  readonly #pollMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(pollMs: number) {
    this.#pollMs = pollMs;
  }

  /** Resolves when the process is gone; stays pending when the watch is or was closed before. */
  gone(identity: ProcessIdentity): Promise<void> {
    if (!this.#isClosed) this.#timer ??= setInterval(() => this.#lookAtAll(), this.#pollMs).unref();
    return new Promise(resolve => this.#waiting.set(identity, resolve));
  }

  /** Looks at one process at once, for a caller that has seen its end. */
  look(identity: ProcessIdentity): void {
    const resolve = this.#waiting.get(identity);
    if (resolve === undefined || mayLive(identity)) return;
    this.#waiting.delete(identity);
    resolve();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#waiting.clear();
  }

  #lookAtAll(): void {
    for (const identity of this.#waiting.keys()) this.look(identity);
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** A process that cannot be read for want of descriptors counts as alive until the next look. */
function mayLive(identity: ProcessIdentity): boolean {
  try {
    return isAlive(identity);
  } catch (error) {
    if (lacksDescriptors(error)) return true;
    throw error;
  }
}
