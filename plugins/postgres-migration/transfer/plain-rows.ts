// Makes the rows of a binary `COPY` of rows that SQLite has joined, as long as their values are plain: what SQLite gives is
// what PostgreSQL would write as text, but for the words of a boolean and the digits of a second. Whatever is not as plain
// as that makes it give up, and is for the rules of each type to judge.
import { isUtf8 } from 'node:buffer';
import { COUNT_BYTES, LENGTH_BYTES, NO_LENGTH } from './binary-rows.ts';
import { BINARY_GROWTH, binaryForm, writeUint32 } from './binary-value.ts';
import type { ColumnPlan, ColumnType } from './column-plan.ts';

/** No text of UTF-8 has these bytes: behind a value, behind the last value of a row, and in place of none. */
export const VALUE_END = 0xff;
export const ROW_END = 0xfe;
export const NO_VALUE = 0xfd;

/**
 * Looks at the value that stands in `bytes` from `from` to `end`, written as a text, and makes it that of its type; the
 * place behind it, or `GIVE_UP`.
 */
type ValueForm = (bytes: Uint8Array, from: number, end: number) => number;

interface Column {
  readonly form: ValueForm;
  readonly isNullable: boolean;
}

const GIVE_UP = -1;
const [CAPITAL_T, CAPITAL_Z, SMALL_F, SMALL_T] = [84, 90, 102, 116];
const [BLANK, PLUS, MINUS, POINT, COLON, ZERO, NINE] = [32, 43, 45, 46, 58, 48, 57];
/** A value may be none, or a time that gets a zone before it becomes a number. */
const ZONE_GROWTH = 4;
/** In UTF-8, bytes from 0x80 to below this go on with a character. */
const CHARACTERS_FROM = 0xc0;
const ASCII_BELOW = 0x80;
/** Integers of so many digits are exact as a double, and within the range of 64 bits. */
const SAFE_DIGITS = 15;
const MICRO_DIGITS = 6;
const SECONDS_END = 'YYYY-MM-DD hh:mm:ss'.length;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Whether values of such a column may be plain. */
export function isPlain(type: ColumnType): boolean {
  return formOf(type) !== undefined;
}

export class PlainRows {
  readonly #columns: readonly Column[];
  #output = new Uint8Array(0);

  /** Those of a table, all of which may be plain. */
  constructor(columns: readonly ColumnPlan[]) {
    this.#columns = columns.map(({ type, isNullable }) => ({ form: binaryFormOf(type), isNullable }));
  }

  /** They stand until the next call. undefined when a value is not plain, or there are other than these numbers of rows, and of values that are none. */
  of(joined: Uint8Array, rows: number, withoutValue: number): Uint8Array | undefined {
    const columns = this.#columns;
    const growth = columns.length * (LENGTH_BYTES + BINARY_GROWTH + ZONE_GROWTH) + COUNT_BYTES;
    const needed = joined.length + (rows + 1) * growth;
    // Of rows that are not plain there may be more than were counted.
    if (this.#output.length < needed) this.#output = new Uint8Array(needed);
    const output = this.#output;
    const bytes = joined.length;
    let valuesLeft = rows * columns.length;
    let noneLeft = withoutValue;
    let index = 0;
    let start = startRow(output, 0, columns.length);
    let at = start;
    let bits = 0;
    for (let place = 0; place < bytes; place += 1) {
      const byte = joined[place] as number;
      if (byte !== 0 && byte < NO_VALUE) {
        bits |= byte;
        output[at] = byte;
        at += 1;
        continue;
      }
      const { form, isNullable } = columns[index] as Column;
      let end = byte;
      let length = NO_LENGTH;
      if (byte === NO_VALUE) {
        if (!isNullable || at !== start) return undefined;
        noneLeft -= 1;
        place += 1;
        end = joined[place] ?? 0;
      } else {
        if (bits >= ASCII_BELOW && !isUtf8(output.subarray(start, at))) return undefined;
        at = form(output, start, at);
        if (at === GIVE_UP) return undefined;
        length = at - start;
      }
      writeUint32(output, start - LENGTH_BYTES, length);
      const isLast = index === columns.length - 1;
      if (end !== (isLast ? ROW_END : VALUE_END)) return undefined;
      valuesLeft -= 1;
      // A text that has one of the bytes between values makes more of them.
      if (valuesLeft < 0) return undefined;
      start = isLast ? startRow(output, at, columns.length) : at + LENGTH_BYTES;
      at = start;
      index = isLast ? 0 : index + 1;
      bits = 0;
    }
    const isWhole = valuesLeft === 0 && noneLeft === 0 && index === 0 && start === at;
    return isWhole ? output.subarray(0, start - LENGTH_BYTES - COUNT_BYTES) : undefined;
  }
}

/** The place of the first value of a row that begins at `at`, behind the number of its values and the length of the first. */
function startRow(output: Uint8Array, at: number, columns: number): number {
  output[at] = columns >> 8;
  output[at + 1] = columns;
  return at + COUNT_BYTES + LENGTH_BYTES;
}

function binaryFormOf(type: ColumnType): ValueForm {
  const form = formOf(type) ?? (() => GIVE_UP);
  const binary = binaryForm(type);
  if (binary === undefined) return form;
  return (bytes, from, end) => {
    const at = form(bytes, from, end);
    return at === GIVE_UP ? GIVE_UP : binary(bytes, from, at);
  };
}

function formOf(type: ColumnType): ValueForm | undefined {
  if (type.kind === 'boolean') return boolean;
  if (type.kind === 'integer') return integer(type.bits);
  if (type.kind === 'timestamp') return timestamp(type.fractionDigits, type.hasZone);
  if (type.kind !== 'text' || type.isPadded) return undefined;
  return type.maxCharacters === null ? (_bytes, _from, end) => end : shortText(type.maxCharacters);
}

function shortText(maxCharacters: number): ValueForm {
  return (bytes, from, end) => {
    if (end - from <= maxCharacters) return end;
    let characters = 0;
    for (let place = from; place < end; place += 1) {
      const byte = bytes[place] as number;
      if (byte < ASCII_BELOW || byte >= CHARACTERS_FROM) characters += 1;
    }
    return characters <= maxCharacters ? end : GIVE_UP;
  };
}

function boolean(bytes: Uint8Array, from: number, end: number): number {
  const digit = bytes[from];
  if (end - from !== 1 || (digit !== ZERO && digit !== ZERO + 1)) return GIVE_UP;
  bytes[from] = digit === ZERO ? SMALL_F : SMALL_T;
  return end;
}

/** As everybody writes it: no sign but a minus, and no zero before other digits. */
function integer(bits: 16 | 32 | 64): ValueForm {
  const limit = 2 ** (bits - 1);
  return (bytes, from, end) => {
    const isNegative = bytes[from] === MINUS;
    const first = isNegative ? from + 1 : from;
    const digits = end - first;
    if (digits < 1 || digits > SAFE_DIGITS || (bytes[first] === ZERO && (digits > 1 || isNegative))) return GIVE_UP;
    let size = 0;
    for (let place = first; place < end; place += 1) {
      const byte = bytes[place] as number;
      if (!isDigit(byte)) return GIVE_UP;
      size = size * 10 + byte - ZERO;
    }
    return size < limit || (isNegative && size === limit) ? end : GIVE_UP;
  };
}

/** A date and a time of day in UTC, with as many digits of a second as the column keeps, or one more than any keeps. */
function timestamp(fractionDigits: number, hasZone: boolean): ValueForm {
  return (bytes, from, end) => {
    const last = bytes[end - 1] === CAPITAL_Z ? end - 1 : end;
    const seconds = from + SECONDS_END;
    if (last < seconds || !isDateAndTime(bytes, from)) return GIVE_UP;
    bytes[from + 'YYYY-MM-DD'.length] = BLANK;
    const at = last === seconds ? last : fraction(bytes, seconds, last, fractionDigits);
    if (!hasZone || at === GIVE_UP) return at;
    bytes[at] = PLUS;
    bytes[at + 1] = ZERO;
    bytes[at + 2] = ZERO;
    return at + 3;
  };
}

/** Anything but a digit makes a part of it no number, which is neither above nor below another. */
function isDateAndTime(bytes: Uint8Array, from: number): boolean {
  const year = twoDigits(bytes, from) * 100 + twoDigits(bytes, from + 2);
  const month = twoDigits(bytes, from + 5);
  const day = twoDigits(bytes, from + 8);
  const isLeapMonth = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const between = bytes[from + 10];
  return (
    year >= 1 &&
    bytes[from + 4] === MINUS &&
    month >= 1 &&
    month <= DAYS.length &&
    bytes[from + 7] === MINUS &&
    day >= 1 &&
    day <= (DAYS[month - 1] ?? 0) + (isLeapMonth ? 1 : 0) &&
    (between === BLANK || between === CAPITAL_T) &&
    twoDigits(bytes, from + 11) < 24 &&
    bytes[from + 13] === COLON &&
    twoDigits(bytes, from + 14) < 60 &&
    bytes[from + 16] === COLON &&
    twoDigits(bytes, from + 17) < 60
  );
}

/** The point and what stands behind it, from which zeros at the end are taken. */
function fraction(bytes: Uint8Array, from: number, end: number, fractionDigits: number): number {
  const digits = end - from - 1;
  const isRounded = digits === MICRO_DIGITS + 1 && fractionDigits === MICRO_DIGITS;
  if (bytes[from] !== POINT || digits < 1 || (digits > fractionDigits && !isRounded)) return GIVE_UP;
  for (let place = from + 1; place < end; place += 1) if (!isDigit(bytes[place] as number)) return GIVE_UP;
  let last = isRounded ? end - 2 : end - 1;
  if (isRounded && (bytes[end - 1] as number) >= ZERO + 5) {
    while (bytes[last] === NINE) last -= 1;
    // One more would be a whole second.
    if (last === from) return GIVE_UP;
    bytes[last] = (bytes[last] as number) + 1;
  }
  while (bytes[last] === ZERO) last -= 1;
  return last === from ? from : last + 1;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

function twoDigits(bytes: Uint8Array, at: number): number {
  const tens = bytes[at] as number;
  const ones = bytes[at + 1] as number;
  return isDigit(tens) && isDigit(ones) ? (tens - ZERO) * 10 + ones - ZERO : Number.NaN;
}
