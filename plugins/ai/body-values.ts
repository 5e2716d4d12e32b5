// The schemas of bodies: null means that nothing was given, numbers and booleans may be texts, and a member that nobody
// knows is refused, because a mistyped switch must not be taken for its default.
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

/** An object of these members alone; those in `ignored` may be sent, and have no effect. */
export function bodyOf<Shape extends z.ZodRawShape>(shape: Shape, ignored: readonly string[] = []) {
  return z.preprocess(body => {
    if (!isObject(body)) return body;
    const isGiven = ([key, value]: [string, unknown]) =>
      !ignored.includes(key) && (value !== null || !Object.hasOwn(shape, key));
    return Object.fromEntries(Object.entries(body).filter(isGiven));
  }, z.strictObject(shape));
}
