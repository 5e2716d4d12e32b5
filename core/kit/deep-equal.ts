// Compares data by members alone, because parsed objects have no prototype while objects made in code have one.
import { isDeepStrictEqual } from 'node:util';

export function deepEqual(one: unknown, other: unknown): boolean {
  // This makes 0 and -0 equal, which `isDeepStrictEqual` tells apart.
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((value, index) => deepEqual(value, other[index]));
  if (!isRecord(one) || !isRecord(other)) return isDeepStrictEqual(one, other);
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every(key => Object.hasOwn(other, key) && deepEqual(one[key], other[key]))
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value) as unknown;
  return prototype === null || prototype === Object.prototype;
}
