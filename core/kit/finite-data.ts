// Makes data what JSON can carry: clients get `null` for other numbers, and send that back when they change something else.
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

/** Throws a Problem 400 for a number that is not finite: a body may have one that is too large, which no file could hold. */
export function refuseInfinite(value: unknown, name = ''): void {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Problem(400, `${name} is not a finite number`);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) refuseInfinite(member, name === '' ? key : `${name}.${key}`);
}
