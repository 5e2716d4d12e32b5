// Reserves room on the disk for the next state, in a file beside it. While the disk is full, the state is written over
// the reserve, which takes neither space nor an inode where a file system writes in place.
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
  /** The size of the reserve; undefined until it is looked up. */
  #bytes: number | undefined;

  constructor(file: string) {
    this.#file = file;
    this.#place = `${file}.room`;
  }

  /**
   * Reserves room for a text that is a little longer than this one, or at least as long, if the disk has it. Never
   * throws.
   */
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
        // A reserve that is too small is given back to the disk.
        if (this.#bytes < needed) rmSync(this.#place, { force: true });
      }
    } catch {
      // It is tried again with the next state.
      this.#bytes = undefined;
    }
  }

  /**
   * Replaces the state file by the reserve with the text in it. False when the error is not that of a full disk, or the
   * reserve is too small.
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
