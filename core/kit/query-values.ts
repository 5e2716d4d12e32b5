// Query strings as browsers and axios write them, and the zod schemas that read their text values.
import { z } from 'zod';
import { Problem } from '../contract/problem.ts';

const FORBIDDEN_NAMES = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * One string per name; an array where the name is repeated or written `name[]=` or `name[0]=`. `+` is a space. Comma
 * lists stay text until a `queryList` splits them, because any other value may hold a comma.
 */
export function parseQuery(text: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = {};
  if (text === '') return query;
  for (const [rawName, value] of new URLSearchParams(text)) {
    const name = rawName.replace(/\[\d*\]$/, '');
    if (FORBIDDEN_NAMES.has(name)) throw new Problem(400, `The query parameter '${name}' is not allowed`);
    const present = query[name];
    if (Array.isArray(present)) present.push(value);
    else if (present !== undefined) query[name] = [present, value];
    else query[name] = name === rawName ? value : [value];
  }
  return query;
}

/** `1/true/yes/on` and `0/false/no/off` in any case. */
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

/** A whole number within the range. */
export function queryInteger(range: NumberRange = {}) {
  return z.preprocess(
    value => (typeof value === 'string' && /^[+-]?\d{1,15}$/.test(value) ? Number(value) : value),
    limited(z.int(), range),
  );
}

/** A decimal number within the range. */
export function queryNumber(range: NumberRange = {}) {
  return z.preprocess(
    value => (typeof value === 'string' && /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value) ? Number(value) : value),
    limited(z.number(), range),
  );
}

function limited<Schema extends z.ZodNumber>(schema: Schema, { min, max }: NumberRange): Schema {
  const above = min === undefined ? schema : schema.min(min);
  return max === undefined ? above : above.max(max);
}

/** A list of texts: repeated, with brackets, or separated by commas. Blank members are left out. */
export function queryList() {
  return z.preprocess(value => {
    const parts = typeof value === 'string' ? [value] : value;
    if (!Array.isArray(parts)) return value;
    return parts.flatMap(part => (typeof part === 'string' ? part.split(',') : part)).filter(part => part !== '');
  }, z.array(z.string()));
}
