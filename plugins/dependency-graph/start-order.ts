// Derives the start order of enabled entries from the hard relations of the graph.
import type { StartOrder } from './contract.ts';
import { orderOf, type Precedence } from './ordering.ts';
import type { Structure } from './structure.ts';

/** The most cycles that are reported; further ones are broken all the same, but nobody would read so many. */
const MAX_TOLD = 20;

/** The highest rank among these signals. */
export function rankOf(signals: readonly string[], ranks: ReadonlyMap<string, number>): number {
  return Math.max(...signals.map(signal => ranks.get(signal) ?? 0));
}

/** `ranks` contains the signals that may delay a start. */
export function createStartOrder({ snapshot, outgoing }: Structure, ranks: ReadonlyMap<string, number>): StartOrder {
  const enabled = snapshot.entries.filter(entry => entry.enabled).map(entry => entry.processName);
  const isEnabled = new Set(enabled);
  const relations: Precedence[] = enabled.flatMap(dependent =>
    (outgoing.get(dependent) ?? []).flatMap(({ dependency, signals }) => {
      const counting = signals.filter(signal => ranks.has(signal));
      if (counting.length === 0 || !isEnabled.has(dependency)) return [];
      return [{ before: dependency, after: dependent, rank: rankOf(counting, ranks) }];
    }),
  );
  const { dropped, cycles } = orderOf(enabled, relations);
  const gone = new Set(dropped);
  const needs = new Map(enabled.map(name => [name, new Set<string>()]));
  for (const relation of relations) if (!gone.has(relation)) needs.get(relation.after)?.add(relation.before);
  return { needs, cycles: cycles.slice(0, MAX_TOLD).map(cycle => cycle.map(relation => relation.before)) };
}
