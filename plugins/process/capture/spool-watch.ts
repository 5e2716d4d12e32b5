// Notices writes to spools, by inotify while they are rare. Many notices would cost more than the reading of the
// spools, so while there are many, spools are looked at from time to time instead.
import { type FSWatcher, watch } from 'node:fs';

/** Interval of looks where the file system gives no notice of writes. */
const POLL_MS = 100;
/** How long notices are off after too many; a line of a quiet program waits as long. */
const REST_MS = 10;
/** How many notices are allowed in a second, and at once. */
const TOLD_PER_S = 200;
const TOLD_AT_ONCE = 50;

export interface SpoolListener {
  /** Something was written to the spool of this name. */
  wrote(name: string): void;
  /** Something may have been written to any of them. */
  mayHaveWritten(): void;
}

export class SpoolWatch {
  readonly #directory: string;
  readonly #listener: SpoolListener;
  #watcher: FSWatcher | undefined;
  #resting: NodeJS.Timeout | undefined;
  #polling: NodeJS.Timeout | undefined;
  #mayTell = TOLD_AT_ONCE;
  /** Monotonic milliseconds of the latest notice. */
  #toldMs = 0;

  /** The directory must exist. */
  constructor(directory: string, listener: SpoolListener) {
    this.#directory = directory;
    this.#listener = listener;
    this.#watch();
  }

  close(): void {
    this.#watcher?.close();
    clearTimeout(this.#resting);
    clearInterval(this.#polling);
  }

  #watch(): void {
    try {
      this.#watcher = watch(this.#directory, (_event, name) => this.#told(name ?? ''));
      this.#watcher.on('error', () => this.#poll());
    } catch {
      this.#poll();
    }
  }

  #told(name: string): void {
    this.#listener.wrote(name);
    const nowMs = performance.now();
    const earned = ((nowMs - this.#toldMs) / 1_000) * TOLD_PER_S;
    this.#mayTell = Math.min(TOLD_AT_ONCE, this.#mayTell + earned) - 1;
    this.#toldMs = nowMs;
    if (this.#mayTell < 0) this.#rest();
  }

  #rest(): void {
    this.#watcher?.close();
    this.#resting = setTimeout(() => {
      this.#watch();
      this.#listener.mayHaveWritten();
    }, REST_MS);
  }

  /** The kernel limits the number of watches, and not every file system has them. */
  #poll(): void {
    this.#watcher?.close();
    this.#polling ??= setInterval(() => this.#listener.mayHaveWritten(), POLL_MS);
  }
}
