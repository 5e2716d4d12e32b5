// Helpers for the schemas of request bodies: null counts as not given, numbers and booleans may be texts, and an
// unknown member is refused, so that a mistyped switch is not taken for its default.
import { z } from 'zod';
import { isObject } from '#kit/plain-object';

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i;

export const AI_BODY_LIMIT_BYTES = 256 * 1024;

export function givenNumber() {
  return z.preprocess(
    value => (typeof value === 'string' && NUMBER.test(value.trim()) ? Number(value) : value),
    z.number(),
  );
}

export function givenBoolean() {
  return z.preprocess(value => {
    const word = typeof value === 'string' ? value.trim().toLowerCase() : value;
    return word === 'true' ? true : word === 'false' ? false : value;
  }, z.boolean());
}

/** The schema of an object with these members alone. Members in `ignored` may be sent, but have no effect. */
export function bodyOf<Shape extends z.ZodRawShape>(shape: Shape, ignored: readonly string[] = []) {
  return z.preprocess(body => {
    if (!isObject(body)) return body;
    const isGiven = ([key, value]: [string, unknown]) =>
      !ignored.includes(key) && (value !== null || !Object.hasOwn(shape, key));
    return Object.fromEntries(Object.entries(body).filter(isGiven));
  }, z.strictObject(shape));
}
