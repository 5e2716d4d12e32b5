// The labels under which the state keeps what each subordinate holds. A new label for a known address takes over the
// entries of the old one.
import { forEachInSlices } from './slices.ts';
import { failureKey, partsOfKey, type State } from './state.ts';
import { isInternal, normalAddress } from './topology.ts';

export interface Labelled {
  readonly label: string;
  readonly address: string;
}

/**
 * Renames labels in the state as the configuration says, all at once, because labels can change places. Entries of
 * other subordinates stay under their labels.
 */
export async function adoptLabels(state: State, configured: readonly Labelled[]): Promise<void> {
  const { labels } = state.meta;
  if (configured.some(({ label, address }) => !Object.hasOwn(labels, label) || labels[label] !== address))
    await rename(state, await movesOf(state, configured));
  for (const { label, address } of configured) labels[label] = address;
}

/** New labels by former ones. A known label with an address that nobody had is that of a moved subordinate. */
async function movesOf(state: State, configured: readonly Labelled[]): Promise<ReadonlyMap<string, string>> {
  const { labels } = state.meta;
  const inUse = new Set(configured.map(({ label }) => label));
  // The label of an instance is always its own, while its port may become that of another.
  const isFixed = (label: string): boolean => isInternal(label) && inUse.has(label);
  const known = [...(await labelsOf(state))];
  const moves = new Map<string, string>();
  for (const { label, address } of configured) {
    if (labels[label] === address || (isFixed(label) && Object.hasOwn(labels, label))) continue;
    // A subordinate without a configured label, or one of an earlier program, has its address as its label.
    const isFormer = (other: string): boolean => (labels[other] ?? normalAddress(other)) === address;
    const former = known.find(other => other !== label && !isFixed(other) && isFormer(other));
    if (former !== undefined) moves.set(former, label);
  }
  // What a subordinate that is not configured any more has left under such a label goes by its address.
  for (const label of [...moves.values()]) {
    const address = labels[label];
    if (address !== undefined && !moves.has(label)) moves.set(label, address);
  }
  return moves;
}

async function labelsOf({ meta, requests }: State): Promise<Set<string>> {
  const labels = new Set(Object.keys(meta.labels));
  await forEachInSlices(requests.values(), ({ subordinates }) => {
    for (const label of Object.keys(subordinates)) labels.add(label);
  });
  return labels;
}

async function rename({ meta, requests, failed }: State, moves: ReadonlyMap<string, string>): Promise<void> {
  if (moves.size === 0) return;
  for (const former of moves.keys()) delete meta.labels[former];
  await forEachInSlices(requests.values(), ({ subordinates }) => {
    const moved = [...moves].flatMap(([former, label]) => {
      const holding = subordinates[former];
      delete subordinates[former];
      return holding === undefined ? [] : [[label, holding] as const];
    });
    for (const [label, holding] of moved) subordinates[label] ??= holding;
  });
  const failures = [...failed].flatMap(([key, failure]) => {
    const [fingerprint, former] = partsOfKey(key);
    const label = moves.get(former);
    if (label === undefined) return [];
    failed.delete(key);
    return [[failureKey(fingerprint, label), failure] as const];
  });
  for (const [key, failure] of failures) failed.set(key, failure);
}
