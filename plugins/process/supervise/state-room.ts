// Room that is kept on the disk for the next state, in a file beside it: what a user decides while the disk is full is
// recorded by writing over that, which takes neither space nor an inode where a file system writes in place.
import {
  closeSync,
  constants,
  ftruncateSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';

/** Sizes are multiples of this, so that a state which grows a little still fits. */
const STEP_BYTES = 8 * 1024;
const FULL = ['ENOSPC', 'EDQUOT'];

export class StateRoom {
  readonly #file: string;
  readonly #place: string;
  /** What is kept; undefined when nobody has looked. */
  #bytes: number | undefined;

  constructor(file: string) {
    this.#file = file;
    this.#place = `${file}.room`;
  }

  /** Keeps room for a text that is a little longer than this one, or as long, where there is any. Never throws. */
  keep(text: string): void {
    const needed = Buffer.byteLength(text);
    try {
      this.#bytes ??= this.#size();
      if (this.#bytes >= needed) return;
      const wanted = (Math.floor(needed / STEP_BYTES) + 2) * STEP_BYTES;
      try {
        writeFileSync(this.#place, Buffer.alloc(wanted, ' '), { mode: 0o600 });
      } finally {
        this.#bytes = this.#size();
        // What is of no use is left to others.
        if (this.#bytes < needed) rmSync(this.#place, { force: true });
      }
    } catch {
      // It is tried again with the next state.
      this.#bytes = undefined;
    }
  }

  /**
   * Puts the text into the place of the file by what was kept. False when the error is none of a full disk, or that is
   * not enough.
   */
  take(text: string, error: unknown): boolean {
    if (!FULL.includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    const bytes = Buffer.from(text);
    try {
      if (this.#size() < bytes.length) return false;
      this.#bytes = undefined;
      const descriptor = openSync(this.#place, constants.O_WRONLY | constants.O_NOFOLLOW);
      try {
        for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
        ftruncateSync(descriptor, bytes.length);
      } finally {
        closeSync(descriptor);
      }
      renameSync(this.#place, this.#file);
      return true;
    } catch {
      return false;
    }
  }

  #size(): number {
    return lstatSync(this.#place, { throwIfNoEntry: false })?.size ?? 0;
  }
}
