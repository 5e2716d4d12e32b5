// Follows a private key that a program prints over several lines, from its first line to its last, also from one batch
// of output to the next.

const KEY = 'PRIVATE KEY';
const MARK = /PRIVATE KEY(?: BLOCK)?-----/g;
const BEGIN = '-----BEGIN ';
const END = '-----END ';
/**
 * The most lines that one key hides. The longest keys have about 100; a key without an END line must not hide all that
 * follows.
 */
const MAX_LINES = 200;
/** A shorter last word of a line with other words may be one of a sentence. */
const MIN_WORD_LENGTH = 16;
const HEADER = /^(?:Proc-Type|DEK-Info|Version|Comment): /;
const BASE64 = /^=?[A-Za-z0-9+/]{1,4096}={0,2}$/;

export class KeyBlock {
  #linesLeft: number;

  /** `isOpen`: whether the first line may belong to a key that began before. */
  constructor(isOpen = false) {
    this.#linesLeft = isOpen ? MAX_LINES : 0;
  }

  /** For the lines of these bytes of a log, which may begin within a key. */
  static within(bytes: Buffer): KeyBlock {
    const end = bytes.indexOf(END);
    const begin = bytes.indexOf(BEGIN);
    return new KeyBlock(end >= 0 && (begin < 0 || begin > end));
  }

  copy(): KeyBlock {
    const copied = new KeyBlock();
    copied.#linesLeft = this.#linesLeft;
    return copied;
  }

  /** Whether the next line may belong to a key. */
  get isOpen(): boolean {
    return this.#linesLeft > 0;
  }

  /** Whether any line of the text may belong to a key. */
  concerns(text: string | Buffer): boolean {
    return this.isOpen || text.includes(KEY);
  }

  /**
   * What may be shown of the next line: all of it, or the part behind a key. The line in which a key begins is shown
   * whole, because `redact` masks the key in it.
   */
  shown(line: string): string {
    if (this.#linesLeft > 0) {
      const end = line.indexOf(END);
      if (end >= 0) {
        this.#linesLeft = 0;
        const rest = afterMark(line, end);
        return rest === null ? '' : this.shown(rest);
      }
      if (isBody(line.trim())) {
        this.#linesLeft -= 1;
        return '';
      }
      this.#linesLeft = 0;
    }
    const begin = line.lastIndexOf(BEGIN);
    if (begin >= 0 && afterMark(line, begin) !== null && !line.includes(END, begin)) this.#linesLeft = MAX_LINES;
    return line;
  }
}

/** What stands behind the first mark from `index` on; null without one. */
function afterMark(line: string, index: number): string | null {
  MARK.lastIndex = index;
  return MARK.test(line) ? line.slice(MARK.lastIndex) : null;
}

/** A line of base64, alone or behind what a logger puts before each line. */
function isBody(line: string): boolean {
  if (line === '' || HEADER.test(line)) return true;
  const word = line.slice(line.lastIndexOf(' ') + 1);
  return BASE64.test(word) && (word.length === line.length || word.length >= MIN_WORD_LENGTH);
}
