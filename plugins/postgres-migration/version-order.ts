// Compares versions of programs as numbers between dots; missing numbers count as zero.

export function isOlder(version: string, than: string): boolean {
  const [a, b] = [numbersOf(version), numbersOf(than)];
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

/** Ignores what follows the numbers, such as the name of a branch. */
function numbersOf(version: string): number[] {
  const [, numbers = ''] = /^v?(\d+(?:\.\d+)*)/.exec(version) ?? [];
  return numbers.split('.').map(Number);
}
