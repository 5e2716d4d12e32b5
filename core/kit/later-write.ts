// Writes state from memory to the disk: changes made before a write begins share that write, and a failed write is
// repeated until it succeeds, because a full disk may have room later.

const RETRY_MS = 5_000;

export interface LaterWriteOptions {
  /** Writes the state as it is when this is called. */
  write(): Promise<void>;
  /** Called when a write fails, but not again until one has succeeded. */
  failed(error: unknown): void;
  /** Called when a write succeeds after a failed one. */
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

  /** Resolves when the state is on the disk, or could not be written. Never rejects. */
  save(): Promise<void> {
    if (this.#isDue || this.#isClosed) return this.#written;
    this.#isDue = true;
    this.#written = this.#written.then(() => this.#write());
    return this.#written;
  }

  /** Repeats a failed write once more. Later changes are not written. */
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
