// Counts the items that two lists have in common at their beginning and at their end.
import { deepEqual } from './deep-equal.ts';

/** Numbers of items; no item counts for both ends. */
export function commonEnds(one: readonly unknown[], other: readonly unknown[]): { head: number; tail: number } {
  const shorter = Math.min(one.length, other.length);
  let head = 0;
  while (head < shorter && deepEqual(one[head], other[head])) head += 1;
  let tail = 0;
  while (tail < shorter - head && deepEqual(one.at(-1 - tail), other.at(-1 - tail))) tail += 1;
  return { head, tail };
}
