// Finds the lines of output by line-scan.wat, which needs less than half the time of JavaScript and no time to warm up.
// When in doubt, it reports that a line holds a secret, or characters other than printable ASCII.
import { SECRET_WORDS } from '#kit/redact';
import { CODE } from './line-scan-code.ts';

/** Addresses in the memory; line-scan.wat uses the same. */
const PAIRS_AT = 0;
const LETTERS_AT = 0x10000;
const SINGLES_AT = 0x18000;
const CLASSES_AT = 0x18100;
const WORDS_AT = 0x18200;
const WORD_BYTES = 16;
const STARTS_AT = 0x18300;
const START_BYTES = 8;
const STEMS_AT = 0x18340;
/** How many first letters of a word must fit before the whole word is compared. */
const STEM_LETTERS = 3;
/** Tables have one byte for each value of the lower five bits of a letter. */
const STEM_TABLE_BYTES = 32;
const MAX_STEMS = 8;
const INPUT_AT = 0x18400;
/** The scan reads sixteen bytes at a time, also behind the end of the input. */
const PADDING = Buffer.alloc(16, ' ');
/** The longest piece that one call scans. */
export const MAX_SCANNED_BYTES = 128 * 1024;
const TABLE_AT = INPUT_AT + MAX_SCANNED_BYTES + 1024;
const TABLE_BYTES = 768 * 1024;
const START_TEXTS_AT = TABLE_AT + TABLE_BYTES;
/** The longest prefix of a line of a log. */
const MAX_START_BYTES = 1024;
/** Room for the prefix of one level, and for the bytes that copies write behind it. */
const START_TEXT_BYTES = MAX_START_BYTES + 16;
const MAX_LEVELS = 5;
const OUTPUT_AT = START_TEXTS_AT + MAX_LEVELS * START_TEXT_BYTES;
const MAX_OUTPUT_BYTES = 512 * 1024;
/** How many numbers describe a line: its level and what it holds, its start and its end. */
export const LINE_NUMBERS = 3;
const NUMBER_BYTES = 4;
const NEWLINE = 0x0a;

/** Flags of what a line holds, above the level in its first number. */
export const HOLDS_WORD = 1;
export const HOLDS_UNPRINTABLE = 2;
export const MAY_BE_JSON = 4;
/** The level is in the bits below the flags. */
export const HOLDS_SHIFT = 3;

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  scan(from: number, to: number, table: number, shift: number): number;
  end(): number;
  format(table: number, tableEnd: number, shift: number, output: number): number;
}

/** The types of Node do not declare WebAssembly. */
declare const WebAssembly: {
  readonly CompileError: new () => Error;
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

interface LevelWord {
  /** The letters in upper case. */
  readonly letters: Uint8Array;
  readonly level: number;
}

export interface LevelTables {
  /** For each byte, whether it is part of a word: 1 or 0. */
  readonly classes: Uint8Array;
  /** Words of at least three letters, with at most eight different beginnings of three letters. */
  readonly words: readonly LevelWord[];
}

/** The scan of one thread. Each call uses the same memory again. */
export class LineScan {
  readonly #exports: Exports;
  readonly #memory: Uint8Array;
  readonly #numbers: Int32Array;

  /**
   * Null where WebAssembly cannot run: it reserves gigabytes of addresses, which a limit may forbid (`ulimit -v`), and
   * old processors lack instructions that the scan uses.
   */
  static create(tables: LevelTables): LineScan | null {
    try {
      return new LineScan(tables);
    } catch (error) {
      if (error instanceof RangeError || error instanceof WebAssembly.CompileError) return null;
      throw error;
    }
  }

  private constructor({ classes, words }: LevelTables) {
    const module = new WebAssembly.Module(Buffer.from(CODE, 'base64'));
    this.#exports = new WebAssembly.Instance(module).exports as Exports;
    const { buffer } = this.#exports.memory;
    this.#memory = new Uint8Array(buffer);
    this.#numbers = new Int32Array(buffer);
    const { pairs, letters, singles } = SECRET_WORDS.tables();
    this.#memory.set(pairs, PAIRS_AT);
    this.#memory.set(letters, LETTERS_AT);
    this.#memory.set(singles, SINGLES_AT);
    this.#memory.set(classes, CLASSES_AT);
    for (const [index, { letters: word, level }] of words.entries())
      this.#memory.set([word.length, level, ...word], WORDS_AT + index * WORD_BYTES);
    this.#memory.set(stemTables(words), STEMS_AT);
  }

  /**
   * Finds the lines from `from` to `to`, at most `MAX_SCANNED_BYTES` apart; the last line may have no line break.
   * `numbers` is good until the next call; `holds` has the flags of all lines.
   */
  scan(bytes: Uint8Array, from: number, to: number): { readonly numbers: Int32Array; readonly holds: number } {
    this.#memory.set(bytes.subarray(from, to), INPUT_AT);
    let end = INPUT_AT + to - from;
    if (this.#memory[end - 1] !== NEWLINE) {
      this.#memory[end] = NEWLINE;
      end += 1;
    }
    this.#memory.set(PADDING, end);
    const holds = this.#exports.scan(INPUT_AT, end, TABLE_AT, from - INPUT_AT);
    return { numbers: this.#numbers.subarray(TABLE_AT / NUMBER_BYTES, this.#exports.end() / NUMBER_BYTES), holds };
  }

  /**
   * Sets the prefix of log lines for each level, until the next call; lines of a level without one are left out.
   * Returns how many lines one call of `write` can take; 0 when a prefix is too long.
   */
  begin(starts: readonly (Uint8Array | undefined)[]): number {
    const longest = Math.max(...starts.map(start => start?.length ?? 0));
    if (longest > MAX_START_BYTES) return 0;
    for (const [level, start] of starts.entries()) {
      const at = START_TEXTS_AT + level * START_TEXT_BYTES;
      if (start !== undefined) this.#memory.set(start, at);
      const place = start === undefined ? [0, 0] : [at, at + start.length];
      this.#numbers.set(place, (STARTS_AT + level * START_BYTES) / NUMBER_BYTES);
    }
    return Math.floor((MAX_OUTPUT_BYTES - MAX_SCANNED_BYTES) / (longest + 1));
  }

  /**
   * Writes lines that lie within `MAX_SCANNED_BYTES` one after the other to `target`, each behind its prefix. Returns
   * the end of what was written.
   */
  write(bytes: Uint8Array, numbers: Int32Array, target: Uint8Array, at: number): number {
    const from = numbers[1] ?? 0;
    this.#memory.set(bytes.subarray(from, numbers.at(-1)), INPUT_AT);
    this.#numbers.set(numbers, TABLE_AT / NUMBER_BYTES);
    const tableEnd = TABLE_AT + numbers.length * NUMBER_BYTES;
    const end = this.#exports.format(TABLE_AT, tableEnd, from - INPUT_AT, OUTPUT_AT);
    target.set(this.#memory.subarray(OUTPUT_AT, end), at);
    return at + end - OUTPUT_AT;
  }
}

/**
 * Tables for the first three letters of words. Each has, for the lower five bits of a letter, one bit for each
 * beginning that has such a letter in that place.
 */
function stemTables(words: readonly LevelWord[]): Uint8Array {
  const stems = new Map(words.map(({ letters }) => [letters.subarray(0, STEM_LETTERS).join(), letters]));
  if (stems.size > MAX_STEMS) throw new Error(`${stems.size} beginnings of words are more than ${MAX_STEMS}`);
  const tables = new Uint8Array(STEM_LETTERS * STEM_TABLE_BYTES);
  for (const [index, letters] of [...stems.values()].entries())
    for (let place = 0; place < STEM_LETTERS; place += 1) {
      const at = place * STEM_TABLE_BYTES + ((letters[place] ?? 0) & (STEM_TABLE_BYTES - 1));
      tables[at] = (tables[at] ?? 0) | (1 << index);
    }
  return tables;
}
