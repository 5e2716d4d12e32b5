// The order of starting everything that is enabled, from the hard relations of the graph.
import type { StartOrder } from './contract.ts';
import { orderOf, type Precedence } from './ordering.ts';
import type { Structure } from './structure.ts';

/** Of relations that contradict each other the one that says how things really start stays. */
export function rankOf(signals: readonly string[]): number {
  return Math.max(...signals.map(rankOfSignal));
}

function rankOfSignal(signal: string): number {
  if (/^(wait_for_(url|dir|mounts)|rclone_provider_\w+)$/.test(signal)) return 5;
  const ranks: Readonly<Record<string, number>> = {
    conditional_startup_map: 4,
    non_core_dependency_map: 3,
    core_service_map: 2,
    core_service_fields: 1,
  };
  return ranks[signal] ?? 0;
}

/** `counts`: whether a signal may hold a start up. */
export function createStartOrder({ snapshot, outgoing }: Structure, counts: (signal: string) => boolean): StartOrder {
  const enabled = snapshot.entries.filter(entry => entry.enabled).map(entry => entry.processName);
  const isEnabled = new Set(enabled);
  const relations: Precedence[] = enabled.flatMap(dependent =>
    (outgoing.get(dependent) ?? []).flatMap(({ dependency, signals }) => {
      const counting = signals.filter(counts);
      if (counting.length === 0 || !isEnabled.has(dependency)) return [];
      return [{ before: dependency, after: dependent, rank: rankOf(counting) }];
    }),
  );
  const { dropped, cycles } = orderOf(enabled, relations);
  const gone = new Set(dropped);
  const needs = new Map(enabled.map(name => [name, new Set<string>()]));
  for (const relation of relations) if (!gone.has(relation)) needs.get(relation.after)?.add(relation.before);
  return { needs, cycles: cycles.map(cycle => cycle.map(relation => relation.before)) };
}
