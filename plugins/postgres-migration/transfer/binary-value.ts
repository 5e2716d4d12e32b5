// The form of a value in a binary `COPY`, which spares the server parsing and formatting numbers and times. It is made
// from the text that the server would write, so that both forms of a row hold the same.
import type { ColumnType } from './column-plan.ts';

/**
 * Replaces the text in `bytes` from `from` to `end` by the binary value, which may be longer, and gives the place
 * behind it.
 */
export type BinaryForm = (bytes: Uint8Array, from: number, end: number) => number;

/** The most bytes by which a value can grow. */
export const BINARY_GROWTH = 8;

const [MINUS, PLUS, POINT, ZERO, SMALL_T] = [45, 43, 46, 48, 116];
/** Integers of up to this many digits are exact as a double. */
const SAFE_DIGITS = 15;
const UINT32 = 2 ** 32;
const MICROS_PER_S = 1_000_000;
const S_PER_DAY = 86_400;
/** Seconds are turned into microseconds in two parts, so that each product stays exact in a double. */
const LOWER_SECONDS = 2 ** 20;
const UPPER_SECONDS = 2 ** 12;
const DAYS_PER_ERA = 146_097;
const YEARS_PER_ERA = 400;
/** Days from 1 March of the year 0 to 1 January 2000, from which the server counts. */
const FIRST_DAY = 730_425;

/** undefined for a type that both forms write alike, or whose binary form is not known. */
export function binaryForm(type: ColumnType): BinaryForm | undefined {
  if (type.kind === 'boolean') return boolean;
  if (type.kind === 'integer') return integer(type.bits / 8);
  return type.kind === 'timestamp' ? timestamp : undefined;
}

export function writeUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

function boolean(bytes: Uint8Array, from: number): number {
  bytes[from] = bytes[from] === SMALL_T ? 1 : 0;
  return from + 1;
}

function integer(size: number): BinaryForm {
  return (bytes, from, end) => {
    if (end - from > SAFE_DIGITS) return largeInteger(bytes, from, end);
    const isNegative = bytes[from] === MINUS;
    const digits = numberIn(bytes, isNegative ? from + 1 : from, end);
    const value = isNegative ? -digits : digits;
    if (size === 2) {
      bytes[from] = value >> 8;
      bytes[from + 1] = value;
    } else if (size === 4) writeUint32(bytes, from, value);
    else writeInt64(bytes, from, Math.floor(value / UINT32), value);
    return from + size;
  };
}

/** Writes an integer that is not exact as a double, which only a column of 64 bits can hold. */
function largeInteger(bytes: Uint8Array, from: number, end: number): number {
  const value = BigInt(Buffer.from(bytes.subarray(from, end)).toString('latin1'));
  writeInt64(bytes, from, Number(value >> 32n), Number(value & 0xffff_ffffn));
  return from + 8;
}

/** Writes microseconds since the year 2000. In the text, the year has four digits or more, and the zone is UTC. */
function timestamp(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (bytes[at] !== MINUS) at += 1;
  const day = daysTo(numberIn(bytes, from, at), numberIn(bytes, at + 1, at + 3), numberIn(bytes, at + 4, at + 6));
  const hours = numberIn(bytes, at + 7, at + 9);
  const minutes = numberIn(bytes, at + 10, at + 12);
  const seconds = day * S_PER_DAY + (hours * 60 + minutes) * 60 + numberIn(bytes, at + 13, at + 15);
  let micros = 0;
  if (bytes[at + 15] === POINT) {
    let unit = MICROS_PER_S;
    for (let place = at + 16; place < end && bytes[place] !== PLUS; place += 1) {
      unit /= 10;
      micros += ((bytes[place] as number) - ZERO) * unit;
    }
  }
  const upper = Math.floor(seconds / LOWER_SECONDS) * MICROS_PER_S;
  const lower = (seconds - Math.floor(seconds / LOWER_SECONDS) * LOWER_SECONDS) * MICROS_PER_S + micros;
  const high = Math.floor(upper / UPPER_SECONDS);
  const rest = (upper - high * UPPER_SECONDS) * LOWER_SECONDS + lower;
  writeInt64(bytes, from, high + Math.floor(rest / UINT32), rest);
  return from + 8;
}

/** Days since 1 January 2000 in the proleptic Gregorian calendar. */
function daysTo(year: number, month: number, day: number): number {
  const years = month > 2 ? year : year - 1;
  const era = Math.floor(years / YEARS_PER_ERA);
  const yearOfEra = years - era * YEARS_PER_ERA;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * DAYS_PER_ERA + dayOfEra - FIRST_DAY;
}

function numberIn(bytes: Uint8Array, from: number, end: number): number {
  let value = 0;
  for (let place = from; place < end; place += 1) value = value * 10 + (bytes[place] as number) - ZERO;
  return value;
}

/** Of `low`, only the lower 32 bits are written. */
function writeInt64(bytes: Uint8Array, at: number, high: number, low: number): void {
  writeUint32(bytes, at, high);
  writeUint32(bytes, at + 4, low);
}
