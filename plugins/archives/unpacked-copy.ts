// What a slow program has unpacked, kept in the working directory by a file without a name, so that it is unpacked once
// although it is read twice. Where the disk would become full there is none.
import { closeSync, openSync, statfsSync, unlinkSync, writeSync } from 'node:fs';

const NAME = '.unpacked';
/** Between two looks at the disk. */
const LOOK_BYTES = 16 * 1024 * 1024;
/** What is left to others. */
const SPARE_BYTES = 128 * 1024 * 1024;

export class UnpackedCopy {
  readonly descriptor: number;
  #bytes = 0;
  #lookedBytes = -LOOK_BYTES;

  /** undefined where the directory takes no file. */
  static begin(): UnpackedCopy | undefined {
    try {
      const descriptor = openSync(NAME, 'wx+', 0o600);
      unlinkSync(NAME);
      return new UnpackedCopy(descriptor);
    } catch {
      return undefined;
    }
  }

  private constructor(descriptor: number) {
    this.descriptor = descriptor;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether there was room for it, and for the files that will be made of all so far. */
  add(piece: Uint8Array): boolean {
    try {
      if (this.#bytes - this.#lookedBytes >= LOOK_BYTES) {
        this.#lookedBytes = this.#bytes;
        const { bavail, bsize } = statfsSync('.');
        if (bavail * bsize < this.#bytes + 2 * LOOK_BYTES + SPARE_BYTES) return false;
      }
      for (let start = 0; start < piece.length; ) start += writeSync(this.descriptor, piece, start);
      this.#bytes += piece.length;
      return true;
    } catch {
      // A quota, or a limit of this process.
      return false;
    }
  }

  /** Gives its room back. */
  end(): void {
    closeSync(this.descriptor);
  }
}
