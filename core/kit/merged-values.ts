// Merges values over those that are there: objects at every depth, while anything else takes the place of what it was.
import { bareObject, isObject } from './plain-object.ts';

/** Neither argument is changed; members that are new come last. */
export function mergedValues(before: unknown, value: unknown): unknown {
  if (!isObject(before) || !isObject(value)) return value;
  const members = Object.entries(value).map(
    ([key, member]) => [key, Object.hasOwn(before, key) ? mergedValues(before[key], member) : member] as const,
  );
  return bareObject([...Object.entries(before), ...members]);
}
