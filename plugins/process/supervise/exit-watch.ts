// Tells when processes end that are not children of this host: only a parent is told, so the process table is asked.
import { isAlive, type ProcessIdentity } from './proc-table.ts';

const POLL_MS = 500;

export class ExitWatch {
  readonly #waiting = new Map<ProcessIdentity, () => void>();
  #timer: NodeJS.Timeout | undefined;

  /** Resolves when the process is gone; never, when the watch is closed before. */
  gone(identity: ProcessIdentity): Promise<void> {
    this.#timer ??= setInterval(() => this.#look(), POLL_MS).unref();
    return new Promise(resolve => this.#waiting.set(identity, resolve));
  }

  close(): void {
    clearInterval(this.#timer);
    this.#waiting.clear();
  }

  #look(): void {
    for (const [identity, resolve] of this.#waiting) {
      if (isAlive(identity)) continue;
      this.#waiting.delete(identity);
      resolve();
    }
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
