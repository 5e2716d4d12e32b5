// Plain texts of SQLite: those that PostgreSQL writes back as they are, but for the digits of a second. All other texts
// are left to the rules of their types.
import { binaryForm } from './binary-value.ts';
import type { ColumnType } from './column-plan.ts';

/**
 * Makes the text in `bytes` from `from` to `end` the value of a binary `COPY`, in place. Gives the place behind it, or
 * `GIVE_UP` when the text is not plain. The value may be `TEXT_GROWTH` longer.
 */
export type TextForm = (bytes: Uint8Array, from: number, end: number) => number;

export const GIVE_UP = -1;
/** A time gets a zone before it becomes a number. */
export const TEXT_GROWTH = 4;
/** In UTF-8, bytes from 0x80 up to but not including this one continue a character. */
const CHARACTERS_FROM = 0xc0;
const ASCII_BELOW = 0x80;
const [CAPITAL_T, CAPITAL_Z] = [84, 90];
const [BLANK, PLUS, MINUS, POINT, COLON, ZERO, NINE] = [32, 43, 45, 46, 58, 48, 57];
const MICRO_DIGITS = 6;
const SECONDS_END = 'YYYY-MM-DD hh:mm:ss'.length;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** undefined for a type of which no text is plain. */
export function textForm(type: ColumnType): TextForm | undefined {
  if (type.kind === 'timestamp') {
    const form = timestamp(type.fractionDigits, type.hasZone);
    const binary = binaryForm(type);
    return (bytes, from, end) => {
      const at = form(bytes, from, end);
      return at === GIVE_UP ? GIVE_UP : (binary?.(bytes, from, at) ?? at);
    };
  }
  if (type.kind !== 'text' || type.isPadded) return undefined;
  return type.maxCharacters === null ? (_bytes, _from, end) => end : shortText(type.maxCharacters);
}

function shortText(maxCharacters: number): TextForm {
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

/**
 * A date and a time of day in UTC, with at most as many digits of a second as the column keeps, or seven where it keeps
 * six.
 */
function timestamp(fractionDigits: number, hasZone: boolean): TextForm {
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

/** A part with anything but digits is NaN, which fails every comparison. */
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

/** Takes trailing zeros from the point and the digits behind it, and gives the place behind the rest. */
function fraction(bytes: Uint8Array, from: number, end: number, fractionDigits: number): number {
  const digits = end - from - 1;
  const isRounded = digits === MICRO_DIGITS + 1 && fractionDigits === MICRO_DIGITS;
  if (bytes[from] !== POINT || digits < 1 || (digits > fractionDigits && !isRounded)) return GIVE_UP;
  for (let place = from + 1; place < end; place += 1) if (!isDigit(bytes[place] as number)) return GIVE_UP;
  let last = isRounded ? rounded(bytes, from, end - 1) : end - 1;
  if (last === GIVE_UP) return GIVE_UP;
  while (bytes[last] === ZERO) last -= 1;
  return last === from ? from : last + 1;
}

/**
 * Rounds the digits behind the point by the one at `cut`. Gives the place of the last digit that is left, or `GIVE_UP`
 * where rounding up would make a whole second.
 */
function rounded(bytes: Uint8Array, point: number, cut: number): number {
  let last = cut - 1;
  if ((bytes[cut] as number) < ZERO + 5) return last;
  while (bytes[last] === NINE) last -= 1;
  if (last === point) return GIVE_UP;
  bytes[last] = (bytes[last] as number) + 1;
  return last;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

function twoDigits(bytes: Uint8Array, at: number): number {
  const tens = bytes[at] as number;
  const ones = bytes[at + 1] as number;
  return isDigit(tens) && isDigit(ones) ? (tens - ZERO) * 10 + ones - ZERO : Number.NaN;
}
