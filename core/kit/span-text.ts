// How long something has lasted, as people read it.

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const;

/** The two largest units, for example `3d 4h`, `5m 12s` or `8s`. */
export function spanText(seconds: number): string {
  let rest = Math.max(0, Math.floor(seconds));
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0 || parts.length > 0 || unit === 's') parts.push(`${count}${unit}`);
    if (parts.length === 2) break;
  }
  return parts.join(' ');
}
