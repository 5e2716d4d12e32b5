// A copy of what a slow program has unpacked, in an unlinked file of the working directory, so that an archive that is
// read twice is unpacked once. There is no copy when the disk would become full.
import { closeSync, openSync, statfsSync, unlinkSync, writeSync } from 'node:fs';

const NAME = '.unpacked';
/** Bytes between two checks of the free space. */
const LOOK_BYTES = 16 * 1024 * 1024;
/** Disk space that is left to others. */
const SPARE_BYTES = 128 * 1024 * 1024;

export class UnpackedCopy {
  readonly descriptor: number;
  #bytes = 0;
  #lookedBytes = -LOOK_BYTES;

  /** undefined when no file can be made in the directory. */
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

  /** Adds a piece. False when there is no room for the copy and the files that will be made of it. */
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
      // A quota or a limit of this process was reached.
      return false;
    }
  }

  /** Frees the disk space of the copy. */
  end(): void {
    closeSync(this.descriptor);
  }
}
