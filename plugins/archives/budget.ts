// Limits what archives may hold together, counted while they are read, so that a small archive cannot unpack without
// end.
import { ArchiveRefusal } from './refusal.ts';

/** Programs are packed to between a third and a tenth of their size, a decompression bomb to a thousandth. */
const MAX_RATIO = 200;
/** Up to this size the ratio is not checked. */
const UNSUSPICIOUS_BYTES = 64 * 1024 * 1024;
/** Limit of all extended headers of a tar archive. */
const MAX_NOTES_LENGTH = 64 * 1024 * 1024;

export interface Limits {
  readonly maxBytes: number;
  readonly maxEntries: number;
}

export class Budget {
  readonly #limits: Limits;
  #bytes = 0;
  #entries = 0;
  #notesLength = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  countEntry(): void {
    this.#entries += 1;
    const { maxEntries } = this.#limits;
    if (this.#entries > maxEntries) throw new ArchiveRefusal(`it holds more than ${maxEntries} entries`);
  }

  countNotes(length: number): void {
    this.#notesLength += length;
    if (this.#notesLength > MAX_NOTES_LENGTH) throw new ArchiveRefusal('its headers are too long');
  }

  /**
   * Checks a number of unpacked bytes; also used for what will be written, since hard links can make it more than was
   * read.
   */
  checkBytes(bytes: number): void {
    const { maxBytes } = this.#limits;
    if (bytes > maxBytes) throw new ArchiveRefusal(`it unpacks to more than ${maxBytes} bytes`);
  }

  /** Returns a counter for one packed content of `packedBytes`, to be called with the size of each unpacked piece. */
  counterOf(packedBytes: number): (pieceBytes: number) => void {
    const suspiciousBytes = Math.max(UNSUSPICIOUS_BYTES, packedBytes * MAX_RATIO);
    let own = 0;
    return pieceBytes => {
      own += pieceBytes;
      this.#bytes += pieceBytes;
      this.checkBytes(this.#bytes);
      if (own > suspiciousBytes)
        throw new ArchiveRefusal(`it unpacks to more than ${MAX_RATIO} times its size, as a decompression bomb does`);
    };
  }
}
