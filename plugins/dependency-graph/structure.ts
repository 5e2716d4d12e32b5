// The relations of one revision: the findings of all sources merged, with one edge for each pair of processes.
import type { Classification, GraphSnapshot, KeyNeed, SignalFindings, SignalSource, Strength } from './contract.ts';

export interface Edge {
  readonly dependency: string;
  readonly dependent: string;
  /** Sorted by name. */
  readonly signals: readonly string[];
}

/** A need, with the signal that found it. */
export interface SignalNeed extends KeyNeed {
  readonly signal: string;
}

export interface Structure {
  readonly snapshot: GraphSnapshot;
  /** Edges by dependent. */
  readonly outgoing: ReadonlyMap<string, readonly Edge[]>;
  /** Edges by dependency. */
  readonly incoming: ReadonlyMap<string, readonly Edge[]>;
  /** Needs by dependent, in the order of the sources. */
  readonly needs: ReadonlyMap<string, readonly SignalNeed[]>;
  /** Signals that apply to each dependent, whether or not what it needs exists. */
  readonly holding: ReadonlyMap<string, ReadonlySet<string>>;
  /** Needs by the process that is needed. */
  readonly neededBy: ReadonlyMap<string, readonly SignalNeed[]>;
}

export type Found = readonly (readonly [SignalSource, SignalFindings])[];

const SEPARATOR = '\0';
const STRENGTHS: readonly Strength[] = ['hard_runtime', 'hard_configured', 'soft_linkage'];

/** Drops unknown names, and relations of a process to itself. */
export function createStructure(snapshot: GraphSnapshot, found: Found): Structure {
  const names = new Set(snapshot.entries.map(entry => entry.processName));
  const pairs = new Map<string, Set<string>>();
  const relate = (dependency: string, dependent: string, signal: string): void => {
    if (dependency === dependent || !names.has(dependency) || !names.has(dependent)) return;
    add(pairs, dependency + SEPARATOR + dependent, signal);
  };
  const needs = new Map<string, SignalNeed[]>();
  const holding = new Map<string, Set<string>>();
  const annotations: SignalNeed[] = [];
  // Source by source, because clients get the edges in the order in which their dependents are first related.
  for (const [{ signal }, { relations = [], needs: wanted = [] }] of found) {
    for (const { dependency, dependent } of relations) relate(dependency, dependent, signal);
    const applying = applyingNeeds(wanted, signal, names);
    for (const { dependent } of applying) add(holding, dependent, signal);
    annotations.push(...applying.filter(({ onlyAnnotates }) => onlyAnnotates === true));
    for (const need of applying.filter(({ onlyAnnotates }) => onlyAnnotates !== true)) {
      push(needs, need.dependent, need);
      for (const member of need.members) relate(member, need.dependent, signal);
    }
  }
  // Annotations come last, because they hold for the processes of their key that are related by another signal.
  for (const annotation of annotations) {
    const pairWith = (name: string): Set<string> | undefined => pairs.get(name + SEPARATOR + annotation.dependent);
    const ofKey = snapshot.entriesOf(annotation.key).map(entry => entry.processName);
    const members = ofKey.filter(name => pairWith(name) !== undefined);
    if (members.length === 0) continue;
    for (const name of members) pairWith(name)?.add(annotation.signal);
    push(needs, annotation.dependent, { ...annotation, members });
  }
  return { snapshot, ...edgesOf(pairs), needs, holding, neededBy: reversed(needs) };
}

/** The needs of known processes, each with those of its members that are known and are not the dependent itself. */
function applyingNeeds(wanted: readonly KeyNeed[], signal: string, names: ReadonlySet<string>): SignalNeed[] {
  return wanted
    .filter(({ dependent }) => names.has(dependent))
    .flatMap(need => {
      const members = need.members.filter(member => member !== need.dependent && names.has(member));
      // A need that names no member is that of a missing service; one whose members were all dropped says nothing.
      return members.length > 0 || need.members.length === 0 ? [{ ...need, members, signal }] : [];
    });
}

export function strengthOf(signals: readonly string[], strengths: ReadonlyMap<string, Strength>): Strength {
  const found = new Set(signals.map(signal => strengths.get(signal)));
  return STRENGTHS.find(strength => found.has(strength)) ?? 'soft_linkage';
}

export function classificationOf(strength: Strength): Classification {
  return strength === 'soft_linkage' ? 'linkage' : 'hard';
}

function edgesOf(pairs: ReadonlyMap<string, ReadonlySet<string>>): Pick<Structure, 'outgoing' | 'incoming'> {
  const outgoing = new Map<string, Edge[]>();
  const incoming = new Map<string, Edge[]>();
  for (const [key, signals] of pairs) {
    const [dependency = '', dependent = ''] = key.split(SEPARATOR);
    const edge = { dependency, dependent, signals: [...signals].sort() };
    push(outgoing, dependent, edge);
    push(incoming, dependency, edge);
  }
  for (const edges of outgoing.values()) edges.sort((a, b) => compare(a.dependency, b.dependency));
  for (const edges of incoming.values()) edges.sort((a, b) => compare(a.dependent, b.dependent));
  return { outgoing, incoming };
}

function reversed(needs: ReadonlyMap<string, readonly SignalNeed[]>): ReadonlyMap<string, readonly SignalNeed[]> {
  const neededBy = new Map<string, SignalNeed[]>();
  for (const list of needs.values())
    for (const need of list) for (const member of need.members) push(neededBy, member, need);
  return neededBy;
}

function push<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

function add(map: Map<string, Set<string>>, key: string, value: string): void {
  const set = map.get(key);
  if (set === undefined) map.set(key, new Set([value]));
  else set.add(value);
}

/** Compares by code units, so that the order does not depend on the machine's locale. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
