// Whether there is room for what running services write: on a full disk their output is lost, and they may not say so.
import { statfs } from 'node:fs/promises';

/** The kernel gives out whole blocks, and a write of several needs them at once. */
const MIN_FREE_BLOCKS = 16;

export class SpoolSpace {
  readonly #directory: string;
  readonly #onChange: (isFull: boolean) => void;
  #isFull = false;
  #looking = false;

  constructor(directory: string, onChange: (isFull: boolean) => void) {
    this.#directory = directory;
    this.#onChange = onChange;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  /** Never throws; what cannot be asked stays as it was. */
  async look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    const found = await statfs(this.#directory).catch(() => undefined);
    this.#looking = false;
    if (found === undefined) return;
    // File systems without a fixed number of blocks or of files give 0 for all of them.
    const isFull = (found.blocks > 0 && found.bavail < MIN_FREE_BLOCKS) || (found.files > 0 && found.ffree === 0);
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    this.#onChange(isFull);
  }
}
