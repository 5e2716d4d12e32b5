// Chooses the holder that gives something up when all of a limited number is taken: the one that holds most. So no
// holder keeps others out, and each may hold all that no other wants.

/**
 * The holder of most; `holders` names the holder of each thing. undefined where `claimant` would then hold at least as
 * many as that holder does now.
 */
export function largestHolder(holders: Iterable<string>, claimant: string): string | undefined {
  const counts = new Map<string, number>();
  for (const holder of holders) counts.set(holder, (counts.get(holder) ?? 0) + 1);
  const [largest, most] = [...counts].reduce((one, other) => (other[1] > one[1] ? other : one), ['', 0]);
  return most > (counts.get(claimant) ?? 0) + 1 ? largest : undefined;
}
