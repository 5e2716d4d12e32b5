// Merges new values into present ones: objects are merged at every depth, any other value replaces the present one.
import { bareObject, isObject } from './plain-object.ts';

/** Neither argument is changed; members that are new come last. */
export function mergedValues(before: unknown, value: unknown): unknown {
  if (!isObject(before) || !isObject(value)) return value;
  const members = Object.entries(value).map(
    ([key, member]) => [key, Object.hasOwn(before, key) ? mergedValues(before[key], member) : member] as const,
  );
  return bareObject([...Object.entries(before), ...members]);
}
