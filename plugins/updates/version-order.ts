// Compares versions: which of two is newer, as far as their texts show.

/** The numbers with dots at the beginning of a version, and the rest. */
const NUMBERED = /^(\d+(?:\.\d+)*)(.*)$/s;

/**
 * Whether `offered` counts as newer than `installed`: it has higher numbers, or the same ones while `installed` is a
 * preview, which has a suffix. Versions that do not begin with a number have no order, so any other one is newer.
 */
export function isNews(offered: string, installed: string | null): boolean {
  if (installed === null) return true;
  if (isSameVersion(offered, installed)) return false;
  const [, offeredNumbers, offeredRest] = NUMBERED.exec(bare(offered)) ?? [];
  const [, installedNumbers, installedRest] = NUMBERED.exec(bare(installed)) ?? [];
  if (offeredNumbers === undefined || installedNumbers === undefined) return true;
  const difference = differenceOf(offeredNumbers, installedNumbers);
  if (difference !== 0) return difference > 0;
  return offeredRest !== installedRest && (offeredRest === '' || installedRest !== '');
}

/** Whether both texts name the same release; a `v` before the number does not count. */
export function isSameVersion(one: string, other: string): boolean {
  return bare(one) === bare(other);
}

function bare(version: string): string {
  return version.trim().replace(/^v(?=\d)/i, '');
}

function differenceOf(one: string, other: string): number {
  const [a, b] = [one.split('.').map(Number), other.split('.').map(Number)];
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
