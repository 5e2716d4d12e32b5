// The text of values in `COPY`, in exactly the form in which the server writes them back, so that the bytes sent can be
// compared with the bytes that come back.
import type { ColumnPlan, ColumnType } from './column-plan.ts';
import { jsonbText } from './jsonb-text.ts';
import { floatText, integerText, numericText } from './number-text.ts';
import type { StoredValue } from './stored-rows.ts';
import type { SanitizingRule } from './task.ts';
import { dateText, intervalText, timestampText, timeText } from './time-text.ts';
import { ValueFault } from './value-fault.ts';

export type SqliteValue = bigint | number | string | Uint8Array | null;

/** The present value of a column in SQLite. */
export interface Cell {
  /** The text as stored; throws a TypeError when it is not valid in the encoding of the file. */
  strictText(): string;
  /** The bytes as stored. */
  bytes(): Uint8Array;
  /** Called when the value is changed. */
  changed(rule: SanitizingRule): void;
}

const NULL_TEXT = '\\N';
const BYTEA_START = '\\\\x';
/** Values of this length and more are sent in pieces. */
export const LONG = 32 * 1_024;
const UTF8 = 'UTF-8';
/** The last code point that takes one UTF-16 unit. */
const LAST_SINGLE = 0xffff;

/**
 * The characters of a text that need work: those that `COPY` escapes, NUL, and the replacement character, which may
 * stand for invalid UTF-8.
 */
const SPECIAL = /[\0\b\t\n\v\f\r\\\ufffd]/;
const REPLACED = '\ufffd';
/** The backslash comes first, because the other replacements add backslashes. */
const ESCAPES = [
  [/\\/g, '\\\\'],
  [/\n/g, '\\n'],
  [/\r/g, '\\r'],
  [/\t/g, '\\t'],
  [/[\b]/g, '\\b'],
  [/\v/g, '\\v'],
  [/\f/g, '\\f'],
] as const;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const BOOLEANS: ReadonlyMap<unknown, string> = new Map([
  ['0', 'f'],
  ['1', 't'],
  ['false', 'f'],
  ['true', 't'],
]);
/** Types that can hold an empty text. For all others an empty text becomes NULL. */
const KEEPING_EMPTY: ReadonlySet<ColumnType['kind']> = new Set(['text', 'bytea', 'json', 'jsonb', 'uuid', 'enum']);
/** From here on SQLite writes whole numbers of a REAL column with an exponent. */
const EXPONENT_FROM = 1e15;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Makes the text of one value; throws a ValueFault when the column cannot hold it. */
export type ColumnText = (value: SqliteValue) => string;

export function columnText(column: ColumnPlan, cell: Cell): ColumnText {
  const { type, isNullable } = column;
  const write = writerOf(type, column, cell);
  const takesEmpty = KEEPING_EMPTY.has(type.kind);
  return value => {
    if (value === null) {
      if (!isNullable) throw new ValueFault('not_null');
      return NULL_TEXT;
    }
    if (value !== '' || takesEmpty) return write(value);
    if (!isNullable) throw new ValueFault('empty_text');
    cell.changed('empty_text');
    return NULL_TEXT;
  };
}

/**
 * Whether values of the type may be sent in pieces. JSON may, because the server checks it itself and keeps its text.
 */
export function goesInPieces(type: ColumnType): boolean {
  return type.kind === 'bytea' || type.kind === 'json' || (type.kind === 'text' && type.maxCharacters === null);
}

/** Makes the same text in pieces, for values of megabytes; throws a ValueFault before the first piece. */
export type ColumnPieces = (value: SqliteValue) => Iterable<string>;

export function columnPieces(column: ColumnPlan, cell: Cell): ColumnPieces {
  const write = columnText(column, cell);
  const { type } = column;
  return value => {
    if (value === null || typeof value === 'bigint' || typeof value === 'number' || value.length < LONG)
      return [write(value)];
    if (type.kind === 'bytea') return hexPieces([bytesOf(value, cell)]);
    if (goesInPieces(type)) return textPieces(plainText(value, column, cell));
    if (type.kind === 'jsonb') throw new ValueFault('too_large');
    return [write(value)];
  };
}

/** Makes the same text of a value that is read in pieces; a ValueFault may be thrown after some pieces. */
export function storedPieces(
  { type, isKey }: ColumnPlan,
  cell: Cell,
  value: StoredValue,
  encoding: string,
): Iterable<string> {
  const isBytes = type.kind === 'bytea';
  if (isKey || (isBytes && value.isText && encoding !== UTF8)) throw new ValueFault('too_large');
  return isBytes ? hexPieces(value.pieces()) : decodedPieces(value, value.isText ? encoding : UTF8, cell);
}

function* decodedPieces(value: StoredValue, encoding: string, cell: Cell): Generator<string> {
  const isWellFormed = isDecodable(value, encoding);
  if (!isWellFormed && !value.isText) throw new ValueFault('invalid_utf8');
  if (!isWellFormed) cell.changed('invalid_utf8');
  const decoder = new TextDecoder(encoding, { ignoreBOM: true });
  let hasNul = false;
  for (const piece of value.pieces()) {
    const text = decoder.decode(piece, { stream: true });
    hasNul ||= text.includes('\0');
    yield escaped(text.replaceAll('\0', ''));
  }
  yield escaped(decoder.decode());
  if (hasNul) cell.changed('nul');
}

function isDecodable(value: StoredValue, encoding: string): boolean {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  try {
    for (const piece of value.pieces()) decoder.decode(piece, { stream: true });
    decoder.decode();
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

function* textPieces(text: string): Generator<string> {
  let from = 0;
  while (from < text.length) {
    let end = Math.min(from + LONG, text.length);
    // A surrogate pair is not split.
    if (end < text.length && (text.codePointAt(end - 1) ?? 0) > LAST_SINGLE) end += 1;
    yield escaped(text.slice(from, end));
    from = end;
  }
}

function* hexPieces(pieces: Iterable<Buffer>): Generator<string> {
  yield BYTEA_START;
  for (const bytes of pieces)
    for (let from = 0; from < bytes.length; from += LONG) yield bytes.toString('hex', from, from + LONG);
}

type Present = Exclude<SqliteValue, null>;
type Writer = (value: Present) => string;

function writerOf(type: ColumnType, column: ColumnPlan, cell: Cell): Writer {
  switch (type.kind) {
    case 'text':
      return textWriter(column, type, cell);
    case 'boolean':
      return booleanText;
    case 'bytea':
      return value => `${BYTEA_START}${bytesOf(value, cell).toString('hex')}`;
    case 'json':
      return value => escaped(jsonOf(value, column, cell));
    case 'jsonb':
      return value => escaped(jsonbText(jsonOf(value, column, cell)));
    case 'enum':
      return value => enumText(value, type.labels);
    case 'integer':
      return scalar(value => integerText(value, type.bits));
    case 'float':
      return scalar(value => floatText(value, type.bits));
    case 'numeric':
      return scalar(value => {
        const { text, isRounded } = numericText(value, type.limit);
        if (isRounded && column.isKey) throw new ValueFault('rounded');
        if (isRounded) cell.changed('rounded');
        return text;
      });
    case 'timestamp':
      return scalar(value => timestampText(value, type));
    case 'date':
      return scalar(dateText);
    case 'time':
      return scalar(value => timeText(value, type.fractionDigits));
    case 'interval':
      return scalar(value => intervalText(value, type.fractionDigits));
    case 'uuid':
      return scalar(uuidText);
  }
}

function scalar(write: (value: bigint | number | string) => string): Writer {
  return value => {
    if (value instanceof Uint8Array) throw new ValueFault('blob_in_column');
    return write(value);
  };
}

function booleanText(value: Present): string {
  if (value === 0n) return 'f';
  if (value === 1n) return 't';
  const text = BOOLEANS.get(value);
  if (text === undefined) throw new ValueFault('boolean');
  return text;
}

function bytesOf(value: Present, cell: Cell): Buffer {
  if (typeof value === 'bigint' || typeof value === 'number') throw new ValueFault('bytea');
  if (typeof value === 'string' && !value.includes(REPLACED)) return Buffer.from(value);
  const bytes = typeof value === 'string' ? cell.bytes() : value;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function uuidText(value: bigint | number | string): string {
  const text = String(value).toLowerCase();
  if (!UUID.test(text)) throw new ValueFault('uuid');
  return text;
}

/** The text of a JSON value. Throws a ValueFault when it is not JSON. */
function jsonOf(value: Present, column: ColumnPlan, cell: Cell): string {
  const text = plainText(value, column, cell);
  try {
    JSON.parse(text);
    return text;
  } catch {
    throw new ValueFault('json');
  }
}

function enumText(value: Present, labels: readonly string[]): string {
  if (typeof value !== 'string' || !labels.includes(value)) throw new ValueFault('enum');
  return escaped(value);
}

function textWriter(column: ColumnPlan, type: Extract<ColumnType, { kind: 'text' }>, cell: Cell): Writer {
  if (type.maxCharacters === null)
    return value =>
      typeof value === 'string' && !SPECIAL.test(value) ? value : escaped(plainText(value, column, cell));
  const { maxCharacters, isPadded } = type;
  return value => {
    const text = plainText(value, column, cell);
    const characters = text.length <= maxCharacters && !isPadded ? text.length : [...text].length;
    if (characters > maxCharacters) throw new ValueFault('too_long');
    return escaped(isPadded ? text + ' '.repeat(maxCharacters - characters) : text);
  };
}

/** The text of a value without NUL, which PostgreSQL cannot hold. */
function plainText(value: Present, column: ColumnPlan, cell: Cell): string {
  let text = storedText(value);
  if (text.includes(REPLACED) && typeof value === 'string') text = withoutFaults(text, column, cell);
  if (!text.includes('\0')) return text;
  if (column.isKey) throw new ValueFault('nul');
  cell.changed('nul');
  return text.replaceAll('\0', '');
}

function storedText(value: Present): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number')
    return Number.isInteger(value) && Math.abs(value) < EXPONENT_FROM ? `${value}.0` : String(value);
  try {
    return utf8.decode(value);
  } catch {
    throw new ValueFault('invalid_utf8');
  }
}

/** Checks a text with the replacement character, which stands for invalid UTF-8 unless it is stored itself. */
function withoutFaults(text: string, column: ColumnPlan, cell: Cell): string {
  try {
    return cell.strictText();
  } catch {
    if (column.isKey) throw new ValueFault('invalid_utf8');
    cell.changed('invalid_utf8');
    return text;
  }
}

/** Replaces one kind of character after the other, because this takes no memory for each match. */
function escaped(text: string): string {
  if (!SPECIAL.test(text)) return text;
  return ESCAPES.reduce((part, [sign, written]) => part.replace(sign, written), text);
}
