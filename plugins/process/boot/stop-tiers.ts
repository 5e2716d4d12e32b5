// In which order everything is stopped: by tiers of the stop policies, and inside one what is needed after what needs it.
import type { SupervisedProcess } from '../supervise/supervised-process.ts';

/** Of a service that nothing is known of: an application, which may use what stops later. */
const DEFAULT_TIER = 2;
/** More than any stack has layers. */
const DEPTHS = 10_000;

/** Groups that are stopped one after the other, each at the same time. `needs` is free of cycles. */
export function stopTiers(
  all: readonly SupervisedProcess[],
  needs: ReadonlyMap<string, ReadonlySet<string>>,
  tierOf: (configKey: string) => number | undefined,
): SupervisedProcess[][] {
  const depths = new Map<string, number>();
  const depth = (name: string): number => {
    const known = depths.get(name) ?? 1 + Math.max(-1, ...[...(needs.get(name) ?? [])].map(depth));
    depths.set(name, known);
    return known;
  };
  const groups = new Map<number, SupervisedProcess[]>();
  for (const process of all) {
    const { configKey, processName } = process.block;
    const rank = (tierOf(configKey) ?? DEFAULT_TIER) * DEPTHS - depth(processName);
    groups.set(rank, [...(groups.get(rank) ?? []), process]);
  }
  return [...groups].sort(([a], [b]) => a - b).map(([, group]) => group);
}
