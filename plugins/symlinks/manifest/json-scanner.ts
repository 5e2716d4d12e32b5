// Steps through the JSON of a file value by value. It keeps only a window of the file in memory, however large the
// values are, and checks the syntax of values that it skips, too.
import { readSync } from 'node:fs';

const WINDOW_BYTES = 1 << 20;
/** A larger value is skipped and given as undefined. */
const MAX_VALUE_BYTES = 1 << 19;
const MAX_DEPTH = 100;
const MAX_WORD_BYTES = 64;

const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const LOWER_U = 0x75;
const SPACE = 0x20;
const END = -1;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');
const WORD = /^(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)$/;

const IS_WHITE = tableOf(' \t\r\n');
const IS_WORD = tableOf('+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ');
const IS_HEX = tableOf('0123456789abcdefABCDEF');
const IS_ESCAPE = tableOf('"\\/bfnrtu');

/** The file is not JSON, or is nested too deeply. The message gives the byte and quotes nothing from the file. */
export class NotJson extends Error {}

export class JsonScanner {
  readonly #descriptor: number;
  readonly #window = Buffer.allocUnsafeSlow(WINDOW_BYTES);
  readonly #closers = new Uint8Array(MAX_DEPTH);
  /** The offset in the file of the first byte of the window. */
  #start: number;
  #at = 0;
  #end = 0;
  /** Where in the window the value begins that `value` is reading; -1 for none. */
  #mark = -1;

  /** Reads from `offset`, where a value or the document begins. The caller closes the descriptor. */
  constructor(descriptor: number, offset = 0) {
    this.#descriptor = descriptor;
    this.#start = offset;
    if (offset === 0 && this.#fill() && this.#window.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK))
      this.#at = BYTE_ORDER_MARK.length;
  }

  /** The offset in the file of the next byte. */
  get offset(): number {
    return this.#start + this.#at;
  }

  /** Whether the next value is an array. */
  isArray(): boolean {
    return this.#peek() === OPEN_ARRAY;
  }

  /** Whether the next value is an object. */
  isObject(): boolean {
    return this.#peek() === OPEN_OBJECT;
  }

  /** Yields the key of each member of the next object. The caller must read or skip the value before the next key. */
  *members(): Generator<unknown> {
    this.#take(OPEN_OBJECT);
    if (this.#accept(CLOSE_OBJECT)) return;
    do {
      if (this.#peek() !== QUOTE) throw this.#notJson();
      const key = this.value();
      this.#take(COLON);
      yield key;
    } while (this.#accept(COMMA));
    this.#take(CLOSE_OBJECT);
  }

  /** Yields the offset in the file of each element of the next array. The caller must read or skip each element. */
  *elements(): Generator<number> {
    this.#take(OPEN_ARRAY);
    if (this.#accept(CLOSE_ARRAY)) return;
    do {
      this.#peek();
      yield this.offset;
    } while (this.#accept(COMMA));
    this.#take(CLOSE_ARRAY);
  }

  /** Skips the comma between two elements, when the scanner was created at an element. */
  comma(): void {
    this.#take(COMMA);
  }

  /** The next value; undefined when it is larger than `MAX_VALUE_BYTES`. */
  value(): unknown {
    this.#peek();
    this.#mark = this.#at;
    this.skip();
    const text = this.#mark === -1 ? undefined : this.#window.toString('utf8', this.#mark, this.#at);
    this.#mark = -1;
    return text === undefined ? undefined : JSON.parse(text);
  }

  /** Skips the next value. */
  skip(): void {
    let depth = 0;
    do {
      if (this.#opens(depth)) depth += 1;
      else {
        depth = this.#depthAfterValue(depth);
        if (depth > 0) this.#take(COMMA);
      }
      if (depth > 0 && this.#closers[depth - 1] === CLOSE_OBJECT) this.#skipKey();
    } while (depth > 0);
  }

  /** Skips the next value if it has no members, and otherwise only its opening; returns whether members follow. */
  #opens(depth: number): boolean {
    const first = this.#peek();
    if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) {
      if (first === QUOTE) this.#skipText();
      else this.#skipWord();
      return false;
    }
    if (depth === MAX_DEPTH) throw new NotJson(`it is nested deeper than ${MAX_DEPTH} at byte ${this.offset}`);
    this.#at += 1;
    const closer = first === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY;
    if (this.#accept(closer)) return false;
    this.#closers[depth] = closer;
    return true;
  }

  /** Skips the ends of all objects and arrays that end behind a value, and gives the depth of what follows. */
  #depthAfterValue(depth: number): number {
    let left = depth;
    while (left > 0 && this.#accept(this.#closers[left - 1] as number)) left -= 1;
    return left;
  }

  /** Throws a NotJson unless only white space follows. */
  end(): void {
    if (this.#peek() !== END) throw this.#notJson();
  }

  #skipKey(): void {
    if (this.#peek() !== QUOTE) throw this.#notJson();
    this.#skipText();
    this.#take(COLON);
  }

  #skipText(): void {
    this.#at += 1;
    let byte = this.#skipPlain();
    while (byte === BACKSLASH) {
      this.#skipEscape();
      byte = this.#skipPlain();
    }
    if (byte !== QUOTE) throw this.#notJson();
    this.#at += 1;
  }

  /**
   * Skips what means itself in a text, and gives the byte after it, which is not skipped; `END` at the end of the file.
   */
  #skipPlain(): number {
    do {
      const window = this.#window;
      const end = this.#end;
      let at = this.#at;
      while (at < end) {
        const byte = window[at] as number;
        if (byte === QUOTE || byte === BACKSLASH || byte < SPACE) {
          this.#at = at;
          return byte;
        }
        at += 1;
      }
      this.#at = at;
    } while (this.#fill());
    return END;
  }

  #skipEscape(): void {
    this.#at += 1;
    const letter = this.#next(IS_ESCAPE);
    if (letter === LOWER_U) for (let digit = 0; digit < 4; digit += 1) this.#next(IS_HEX);
  }

  /** Skips a number, true, false or null. */
  #skipWord(): void {
    let word = '';
    while ((this.#at < this.#end || this.#fill()) && IS_WORD[this.#window[this.#at] as number] === 1) {
      word += String.fromCharCode(this.#window[this.#at] as number);
      if (word.length > MAX_WORD_BYTES) throw this.#notJson();
      this.#at += 1;
    }
    if (!WORD.test(word)) throw this.#notJson();
  }

  #next(allowed: Uint8Array): number {
    if (this.#at === this.#end && !this.#fill()) throw this.#notJson();
    const byte = this.#window[this.#at] as number;
    if (allowed[byte] !== 1) throw this.#notJson();
    this.#at += 1;
    return byte;
  }

  /** Skips white space and gives the byte after it, which is not skipped; `END` at the end of the file. */
  #peek(): number {
    for (;;) {
      const window = this.#window;
      while (this.#at < this.#end) {
        const byte = window[this.#at] as number;
        if (IS_WHITE[byte] !== 1) return byte;
        this.#at += 1;
      }
      if (!this.#fill()) return END;
    }
  }

  #accept(byte: number): boolean {
    if (this.#peek() !== byte) return false;
    this.#at += 1;
    return true;
  }

  #take(byte: number): void {
    if (!this.#accept(byte)) throw this.#notJson();
  }

  /** Refills the window when all of it has been read. Returns false at the end of the file. */
  #fill(): boolean {
    if (this.#mark !== -1 && this.#end - this.#mark > MAX_VALUE_BYTES) this.#mark = -1;
    const kept = this.#mark === -1 ? this.#end : this.#mark;
    this.#window.copyWithin(0, kept, this.#end);
    this.#start += kept;
    this.#at -= kept;
    this.#end -= kept;
    if (this.#mark !== -1) this.#mark = 0;
    const room = WINDOW_BYTES - this.#end;
    const read = readSync(this.#descriptor, this.#window, this.#end, room, this.#start + this.#end);
    this.#end += read;
    return read > 0;
  }

  #notJson(): NotJson {
    return new NotJson(`it is not JSON at byte ${this.offset}`);
  }
}

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}
