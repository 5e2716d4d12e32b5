// Follows a private key that a program prints over several lines, from its first line to its last, also from one batch
// of output to the next.

const MARK = 'PRIVATE KEY-----';
const BEGIN = '-----BEGIN ';
const END = '-----END ';
/** The longest keys have about 100; after an end that never came, lines are shown again. */
const MAX_LINES = 200;
/** A shorter last word of a line with other words may be one of a sentence. */
const MIN_WORD_LENGTH = 16;
const HEADER = /^(?:Proc-Type|DEK-Info): /;
const BASE64 = /^[A-Za-z0-9+/]{1,4096}={0,2}$/;

export class KeyBlock {
  #linesLeft = 0;

  /** Whether the next line may belong to a key. */
  get isOpen(): boolean {
    return this.#linesLeft > 0;
  }

  /** Whether any line of the text may belong to a key. */
  concerns(text: string | Buffer): boolean {
    return this.isOpen || text.includes(MARK);
  }

  /** What may be shown of the next line: all of it, or the part behind a key. Redaction cuts what a key begins in. */
  shown(line: string): string {
    if (this.#linesLeft > 0) {
      const end = line.indexOf(END);
      if (end >= 0) {
        this.#linesLeft = 0;
        const mark = line.indexOf(MARK, end);
        return mark < 0 ? '' : this.shown(line.slice(mark + MARK.length));
      }
      if (isBody(line.trim())) {
        this.#linesLeft -= 1;
        return '';
      }
      this.#linesLeft = 0;
    }
    const begin = line.lastIndexOf(BEGIN);
    if (begin >= 0 && line.includes(MARK, begin) && !line.includes(END, begin)) this.#linesLeft = MAX_LINES;
    return line;
  }
}

/** A line of base64, alone or behind what a logger puts before each line. */
function isBody(line: string): boolean {
  if (line === '' || HEADER.test(line)) return true;
  const word = line.slice(line.lastIndexOf(' ') + 1);
  return BASE64.test(word) && (word.length === line.length || word.length >= MIN_WORD_LENGTH);
}
