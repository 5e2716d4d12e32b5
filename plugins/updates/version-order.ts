// Which of two versions is the newer one, as far as their texts tell.

/** Numbers between dots at the beginning, and what follows them. */
const NUMBERED = /^(\d+(?:\.\d+)*)(.*)$/s;

/**
 * Whether a release with the version `offered` would be news where `installed` is: it has higher numbers, or completes
 * what was a preview of the same. Texts that begin without a number have no order, so another one is news.
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
