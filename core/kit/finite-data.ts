// Makes data fit for JSON: a number that is not finite becomes `null`, which clients send back when they change
// something else. Integers that a JavaScript number cannot hold exactly are refused.
import { Problem } from '../contract/problem.ts';

/**
 * The same value, whose numbers that are not finite (`.inf` and `.nan` in YAML, `1e999` anywhere) are null. It is not
 * nested deeper than `plainData` allows.
 */
export function finiteData<Value>(value: Value): Value {
  return finite(value) as Value;
}

function finite(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Record<string, unknown>;
  for (const [key, member] of Object.entries(members)) {
    const carried = finite(member);
    if (carried !== member) members[key] = carried;
  }
  return value;
}

/**
 * Throws a Problem 400 for a number that is not finite: a body may have one that is too large, which no file could
 * hold.
 */
export function refuseInfinite(value: unknown, name = ''): void {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Problem(400, `${name} is not a finite number`);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) refuseInfinite(member, name === '' ? key : `${name}.${key}`);
}

/**
 * Throws a Problem 422 for an integer so large that its last digits were lost when the updates of a body were read.
 * Integers that `present` holds are let through, because clients send back what they got.
 */
export async function refuseRounded(updates: unknown, present: () => unknown): Promise<void> {
  const sent = largeIntegers(updates);
  if (sent.length === 0) return;
  const known = new Set(largeIntegers(await present()).map(({ value }) => value));
  const rounded = sent.find(({ value }) => !known.has(value));
  if (rounded === undefined) return;
  const msg = `integers beyond ${Number.MAX_SAFE_INTEGER} lose digits on their way; send it as text, or edit the file by hand`;
  const errors = [{ loc: ['body', 'updates', ...rounded.path], msg, type: 'too_big' }];
  throw new Problem(422, `${rounded.path.join('.')}: ${msg}`, { extra: { errors } });
}

interface LargeInteger {
  readonly path: readonly string[];
  readonly value: number;
}

function largeIntegers(value: unknown, path: readonly string[] = []): LargeInteger[] {
  if (typeof value === 'number')
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? [{ path, value }] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => largeIntegers(member, [...path, key]));
}
