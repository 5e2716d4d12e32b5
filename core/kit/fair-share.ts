// Who has to give something up when all of a limited number is taken: whoever holds most. So nobody keeps others out,
// and each may hold all that nobody else wants.

/**
 * The holder of most, given the holder of each; undefined where `claimant` would hold no fewer than that one
 * afterwards.
 */
export function largestHolder(holders: Iterable<string>, claimant: string): string | undefined {
  const counts = new Map<string, number>();
  for (const holder of holders) counts.set(holder, (counts.get(holder) ?? 0) + 1);
  const [largest, most] = [...counts].reduce((one, other) => (other[1] > one[1] ? other : one), ['', 0]);
  return most > (counts.get(claimant) ?? 0) + 1 ? largest : undefined;
}
