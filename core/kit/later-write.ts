// Brings what is known in memory to the disk: changes until a write begins share it, and one that failed is made again
// until it succeeds, because a disk that was full has room later.

const RETRY_MS = 5_000;

export interface LaterWriteOptions {
  /** Writes what is known when it is called. */
  write(): Promise<void>;
  /** Told once, until a write succeeds. */
  failed(error: unknown): void;
  /** Told when a write has succeeded after that. */
  mended(): void;
  readonly retryMs?: number;
}

export class LaterWrite {
  readonly #options: LaterWriteOptions;
  #written: Promise<void> = Promise.resolve();
  #isDue = false;
  #isFailing = false;
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: LaterWriteOptions) {
    this.#options = options;
  }

  /** Resolves when everything so far is on the disk, or could not be written. Never rejects. */
  save(): Promise<void> {
    if (this.#isDue || this.#isClosed) return this.#written;
    this.#isDue = true;
    this.#written = this.#written.then(() => this.#write());
    return this.#written;
  }

  /** What failed is tried once more; what comes later is not written. */
  async close(): Promise<void> {
    if (this.#isFailing) void this.save();
    this.#isClosed = true;
    await this.#written;
    clearTimeout(this.#retry);
  }

  async #write(): Promise<void> {
    this.#isDue = false;
    clearTimeout(this.#retry);
    try {
      await this.#options.write();
    } catch (error) {
      this.#retry = setTimeout(() => void this.save(), this.#options.retryMs ?? RETRY_MS).unref();
      if (!this.#isFailing) this.#options.failed(error);
      this.#isFailing = true;
      return;
    }
    if (this.#isFailing) this.#options.mended();
    this.#isFailing = false;
  }
}
