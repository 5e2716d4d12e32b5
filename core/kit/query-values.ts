// The zod schemas that convert the text values of a query.
import { z } from 'zod';

/** Reads `1`, `true`, `yes` and `on` as true and `0`, `false`, `no` and `off` as false, in upper or lower case. */
export function queryBoolean() {
  return z.preprocess(value => {
    if (typeof value !== 'string') return value;
    if (/^(1|true|yes|on)$/i.test(value)) return true;
    return /^(0|false|no|off)$/i.test(value) ? false : value;
  }, z.boolean());
}

export interface NumberRange {
  readonly min?: number;
  readonly max?: number;
}

/**
 * Reads a whole number within the range; both ends belong to it. A number of too many digits counts as the largest that
 * a number holds exactly.
 */
export function queryInteger(range: NumberRange = {}) {
  return z.preprocess(readInteger, limitRange(z.int(), range));
}

/** A fraction becomes a number too, so that it is refused as one. */
function readInteger(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (/^[+-]?\d+$/.test(value)) return safeInteger(value);
  return isDecimal(value) && !Number.isInteger(Number(value)) ? Number(value) : value;
}

function safeInteger(digits: string): number {
  return Math.min(Math.max(Number(digits), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}

/** Reads a decimal number within the range; both ends belong to it. */
export function queryNumber(range: NumberRange = {}) {
  return z.preprocess(
    value => (typeof value === 'string' && isDecimal(value) ? Number(value) : value),
    limitRange(z.number(), range),
  );
}

function isDecimal(text: string): boolean {
  return /^[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text);
}

function limitRange<Schema extends z.ZodNumber>(schema: Schema, { min, max }: NumberRange): Schema {
  const withMinimum = min === undefined ? schema : schema.min(min);
  return max === undefined ? withMinimum : withMinimum.max(max);
}

/** Reads a list of texts: the name is repeated or has brackets, or the value has commas. Empty texts are left out. */
export function queryList() {
  return z.preprocess(value => {
    const parts = typeof value === 'string' ? [value] : value;
    if (!Array.isArray(parts)) return value;
    return parts.flatMap(part => (typeof part === 'string' ? part.split(',') : part)).filter(part => part !== '');
  }, z.array(z.string()));
}
