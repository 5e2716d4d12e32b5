// Reads what stands at a path in data: own members of objects alone, so that no name leads to what an object inherits.
import { isObject } from './plain-object.ts';

/** The value; undefined where the path leads nowhere. */
export function valueAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    root,
  );
}
