// Finds the lines of output by line-scan.wat, which needs less than half of the time of JavaScript, and no time to warm up.
// It tells of a line rather too often than too seldom that it holds more than printable ASCII without a secret.
import { SECRET_WORDS } from '#kit/redact';
import { CODE } from './line-scan-code.ts';

/** Places in the memory, which line-scan.wat has too. */
const PAIRS_AT = 0;
const LETTERS_AT = 0x10000;
const SINGLES_AT = 0x18000;
const CLASSES_AT = 0x18100;
const WORDS_AT = 0x18200;
const WORD_BYTES = 16;
const INPUT_AT = 0x18400;
const PADDING = Buffer.from('    ');
/** The longest piece that is looked at. */
export const MAX_SCANNED_BYTES = 128 * 1024;
const TABLE_AT = INPUT_AT + MAX_SCANNED_BYTES + 1024;
/** The numbers that are told of a line: its level and what it holds, its start and its end. */
export const LINE_NUMBERS = 3;
const NUMBER_BYTES = 4;
const NEWLINE = 0x0a;

/** What a line holds. */
export const HOLDS_WORD = 1;
export const HOLDS_UNPRINTABLE = 2;
export const MAY_BE_JSON = 4;
/** The numbers of levels are below. */
export const HOLDS_SHIFT = 3;

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  scan(from: number, to: number, table: number, shift: number): number;
  end(): number;
}

/** The types of Node do not have it. */
declare const WebAssembly: {
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

interface LevelWord {
  /** In upper case. */
  readonly letters: Uint8Array;
  readonly level: number;
}

export interface LevelTables {
  /** By a byte: 1 within a word, 2 where it may also begin that of a level. */
  readonly classes: Uint8Array;
  readonly words: readonly LevelWord[];
}

/** For one thread. Each call uses the same memory again. */
export class LineScan {
  readonly #exports: Exports;
  readonly #memory: Uint8Array;
  readonly #numbers: Int32Array;

  constructor({ classes, words }: LevelTables) {
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
  }

  /**
   * The lines of at most `MAX_SCANNED_BYTES` from `from` to `to`, of which the last may have no line break. The numbers
   * are good until the next call.
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
}
