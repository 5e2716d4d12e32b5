// Writes bytes to a file one after the other, in large blocks however small the pieces are.
import { writeWhole } from './whole-write.ts';

const BLOCK_BYTES = 1 << 18;

export class BlockWriter {
  readonly #descriptor: number;
  readonly #shown: string;
  readonly #block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #filled = 0;
  /** The offset in the file after the bytes that are written. */
  #written = 0;

  /** Writes from the beginning of the file. `shown` is its path in messages. The caller closes the descriptor. */
  constructor(descriptor: number, shown: string) {
    this.#descriptor = descriptor;
    this.#shown = shown;
  }

  /** The offset in the file after all bytes that were given. */
  get end(): number {
    return this.#written + this.#filled;
  }

  /** Throws a Problem when the disk is full. */
  write(bytes: Uint8Array): void {
    if (this.#filled + bytes.length > BLOCK_BYTES) this.flush();
    if (bytes.length > BLOCK_BYTES) {
      this.#put(bytes);
      return;
    }
    this.#block.set(bytes, this.#filled);
    this.#filled += bytes.length;
  }

  flush(): void {
    this.#put(this.#block.subarray(0, this.#filled));
    this.#filled = 0;
  }

  #put(bytes: Uint8Array): void {
    writeWhole(this.#descriptor, bytes, this.#written, this.#shown);
    this.#written += bytes.length;
  }
}
