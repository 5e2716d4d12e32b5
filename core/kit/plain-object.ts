// Tells objects with named members from arrays, null and scalars, and makes objects whose keys are data alone.

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object without a prototype, in which `__proto__` and `constructor` are members like any other. */
export function bareObject<Value>(entries: Iterable<readonly [string, Value]> = []): Record<string, Value> {
  const bare = Object.create(null) as Record<string, Value>;
  for (const [key, value] of entries) bare[key] = value;
  return bare;
}
