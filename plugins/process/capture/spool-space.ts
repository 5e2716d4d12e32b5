// Finds out whether output of running services can be kept: on a disk that is full, read-only or failing it is lost,
// and the services may not say so.
import { statfs, utimes } from 'node:fs/promises';

/** The kernel gives out whole blocks, and a write of several needs them at once. */
const MIN_FREE_BLOCKS = 16;
/**
 * Interval of trial changes: only a change shows that the disk takes any, because not every kernel reports a disk that
 * it has made read-only after an error.
 */
const TOUCH_MS = 15_000;

/** Written into sentences behind "the disk is". */
export type SpoolFault = 'full' | 'read-only' | 'failing';

const FAULTS: Readonly<Record<string, SpoolFault>> = { EROFS: 'read-only', EIO: 'failing' };

export class SpoolSpace {
  readonly #directory: string;
  readonly #onChange: (fault: SpoolFault | null) => void;
  #fault: SpoolFault | null = null;
  #looking = false;
  #touchedMs = Number.NEGATIVE_INFINITY;

  constructor(directory: string, onChange: (fault: SpoolFault | null) => void) {
    this.#directory = directory;
    this.#onChange = onChange;
  }

  get isFull(): boolean {
    return this.#fault === 'full';
  }

  /** Checks the disk. Never throws; when the disk cannot be asked, the last answer stays. */
  async look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    const fault = await this.#ask().catch(() => this.#fault);
    this.#looking = false;
    if (fault === this.#fault) return;
    this.#fault = fault;
    this.#onChange(fault);
  }

  async #ask(): Promise<SpoolFault | null> {
    const { blocks, bavail, files, ffree } = await statfs(this.#directory);
    // File systems without a fixed number of blocks or of files give 0 for all of them.
    if ((blocks > 0 && bavail < MIN_FREE_BLOCKS) || (files > 0 && ffree === 0)) return 'full';
    const now = performance.now();
    if (this.#fault === null && now - this.#touchedMs < TOUCH_MS) return null;
    this.#touchedMs = now;
    const time = Date.now() / 1_000;
    return utimes(this.#directory, time, time).then(
      () => null,
      ({ code = '' }: NodeJS.ErrnoException) => FAULTS[code] ?? null,
    );
  }
}
