// Does work on several services: on each after those that it needs, and on independent ones at once.
import type { HostClient } from '#core';
import { hostAnswer } from '#kit/host-answer';

interface Graph {
  readonly edges: readonly { readonly source: string; readonly target: string }[];
}

/** For each name, the names whose work must be done before. */
export type Needs = ReadonlyMap<string, ReadonlySet<string>>;

/** Which of these services need which, by the dependency graph of the host. Without a graph, none needs another. */
export async function needsAmong(names: readonly string[], host: HostClient): Promise<Needs> {
  const needs = new Map(names.map(name => [name, new Set<string>()]));
  if (names.length < 2) return needs;
  const graph = await host.find('/process/dependency-graph/whole');
  if (graph === undefined) return needs;
  const { edges } = hostAnswer<Graph>(graph, { edges: [{ source: '', target: '' }] });
  for (const { source, target } of edges) if (needs.has(source)) needs.get(target)?.add(source);
  return needs;
}

/** The opposite order, for stops: each service after those that need it. */
export function reversed(needs: Needs): Needs {
  const turned = new Map([...needs.keys()].map(name => [name, new Set<string>()]));
  for (const [name, others] of needs) for (const other of others) turned.get(other)?.add(name);
  return turned;
}

/** In a cycle, the service that is reached first goes first. The results have the order of `needs`. */
export function inOrder<Result>(needs: Needs, work: (name: string) => Promise<Result>): Promise<Result[]> {
  const begun = new Map<string, Promise<Result>>();
  const begin = (name: string, way: ReadonlySet<string>): Promise<Result> => {
    const known = begun.get(name);
    if (known !== undefined) return known;
    const further = new Set(way).add(name);
    const before = [...(needs.get(name) ?? [])].filter(other => !further.has(other));
    const result = Promise.allSettled(before.map(other => begin(other, further))).then(() => work(name));
    begun.set(name, result);
    return result;
  };
  return Promise.all([...needs.keys()].map(name => begin(name, new Set())));
}
