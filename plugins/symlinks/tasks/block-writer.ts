// Writes bytes to a file one after the other, in large blocks however small the pieces are.
import { writeSync } from 'node:fs';

const BLOCK_BYTES = 1 << 18;

export class BlockWriter {
  readonly #descriptor: number;
  readonly #block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #filled = 0;
  /** Place in the file behind what is written. */
  #written = 0;

  /** Begins at the beginning of the file. The descriptor stays its owner's. */
  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** Place in the file behind all that was given. */
  get end(): number {
    return this.#written + this.#filled;
  }

  /** Throws when the disk takes no more. */
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
    // On a full disk one write may take only a part without an error.
    for (let done = 0; done < bytes.length; ) {
      const taken = writeSync(this.#descriptor, bytes, done, bytes.length - done, this.#written);
      this.#written += taken;
      done += taken;
    }
  }
}
