// Orders plugins for set-up: each comes after the plugins that it needs or names in `after`; ties are broken by rank,
// then by name.
import { withinLoadTime } from './load-deadline.ts';

export interface Orderable {
  readonly name: string;
  readonly needs: readonly string[];
  readonly after: readonly string[];
  readonly rank: number;
}

export interface Order<Item> {
  readonly sorted: Item[];
  /** Plugins that wait for each other, each with its cycle, such as `a -> b -> a`. */
  readonly cycles: ReadonlyMap<string, string>;
}

export function orderPlugins<Item extends Orderable>(items: readonly Item[]): Order<Item> {
  const inTies = [...items].sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1));
  const byName = new Map(inTies.map(item => [item.name, item]));
  const sorted: Item[] = [];
  const cycles = new Map<string, string>();
  const done = new Set<string>();

  const visit = (item: Item, path: readonly string[]): void => {
    if (done.has(item.name)) return;
    const at = path.indexOf(item.name);
    if (at >= 0) {
      const cycle = [...path.slice(at), item.name].join(' -> ');
      for (const name of path.slice(at)) cycles.set(name, cycle);
      return;
    }
    for (const name of [...item.needs, ...item.after].sort()) {
      const before = byName.get(name);
      if (before !== undefined) visit(before, [...path, item.name]);
    }
    done.add(item.name);
    sorted.push(item);
  };
  for (const item of byName.values()) visit(item, []);
  return { sorted: sorted.filter(item => !cycles.has(item.name)), cycles };
}

/**
 * Calls `setUp` for one item after the other. When one takes longer than `patienceMs`, only items that need it, or name
 * it in `after`, go on waiting for it, so that the deadlines of several items that hang pass at the same time.
 */
export async function inTurn<Item extends Orderable>(
  sorted: readonly Item[],
  { patienceMs, signal }: { readonly patienceMs: number; readonly signal: AbortSignal },
  setUp: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = [...sorted];
  const begun = new Map<string, Promise<void>>();
  const isDue = ({ needs, after }: Item, at: number): boolean => {
    const open = new Set([...begun.keys(), ...waiting.slice(0, at).map(({ name }) => name)]);
    return ![...needs, ...after].some(name => open.has(name));
  };
  while (waiting.length > 0) {
    const at = begun.size === 0 ? 0 : waiting.findIndex(isDue);
    const [item] = at < 0 ? [] : waiting.splice(at, 1);
    if (item === undefined) {
      await Promise.race(begun.values());
      continue;
    }
    const done = setUp(item).finally(() => begun.delete(item.name));
    begun.set(item.name, done);
    await withinLoadTime(() => done, { ms: patienceMs, what: item.name, signal }).catch(() => undefined);
  }
  await Promise.all(begun.values());
}
