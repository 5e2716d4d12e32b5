// Derives the order of a shutdown: by the tiers of stop policies, and within a tier dependents before what they need.
import type { SupervisedProcess } from '../supervise/supervised-process.ts';

/** The tier of services without a stop policy: they count as applications, which use services of later tiers. */
const DEFAULT_TIER = 2;
/** Larger than the depth of any dependency graph. */
const MAX_DEPTH = 10_000;

/**
 * Groups to be stopped one after the other; the members of a group stop at the same time. `needs` must be free of
 * cycles.
 */
export function stopTiers(
  all: readonly SupervisedProcess[],
  needs: ReadonlyMap<string, ReadonlySet<string>>,
): SupervisedProcess[][] {
  const depths = new Map<string, number>();
  const depth = (name: string): number => {
    const known = depths.get(name) ?? 1 + Math.max(-1, ...[...(needs.get(name) ?? [])].map(depth));
    depths.set(name, known);
    return known;
  };
  const groups = new Map<number, SupervisedProcess[]>();
  for (const process of all) {
    const { block, stopPolicy } = process;
    const rank = (stopPolicy?.tier ?? DEFAULT_TIER) * MAX_DEPTH - depth(block.processName);
    groups.set(rank, [...(groups.get(rank) ?? []), process]);
  }
  return [...groups].sort(([a], [b]) => a - b).map(([, group]) => group);
}
