// Writes data as a text by which it can be looked up: equal data has the same text, other data another one.

/** Two texts are the same exactly where `deepEqual` finds the plain data equal. Names of objects are sorted. */
export function canonicalText(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}:${canonicalText(member)}`);
  return `{${members.sort().join()}}`;
}
