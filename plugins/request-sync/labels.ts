// The labels under which the state keeps what each subordinate holds. A new label for a known address takes over the
// entries of the old one.
import { forEachInSlices } from './slices.ts';
import { failureKey, partsOfKey, type State } from './state.ts';
import { normalAddress } from './topology.ts';

export interface Labelled {
  readonly label: string;
  readonly address: string;
}

/** Renames labels in the state as the configuration says. Entries of other subordinates stay under their labels. */
export async function adoptLabels(state: State, configured: readonly Labelled[]): Promise<void> {
  const { labels } = state.meta;
  const isNew = ({ label }: Labelled): boolean => !Object.hasOwn(labels, label);
  const added = configured.filter(isNew);
  const inUse = new Set(configured.map(({ label }) => label));
  const others = added.length === 0 ? [] : [...(await labelsOf(state))].filter(label => !inUse.has(label));
  for (const { label, address } of added) {
    // A subordinate without a configured label, or one of an earlier program, has its address as its label.
    const former = others.find(other => (labels[other] ?? normalAddress(other)) === address);
    if (former !== undefined) await rename(state, former, label);
  }
  for (const { label, address } of configured) labels[label] = address;
}

async function labelsOf({ meta, requests }: State): Promise<Set<string>> {
  const labels = new Set(Object.keys(meta.labels));
  await forEachInSlices(requests.values(), ({ subordinates }) => {
    for (const label of Object.keys(subordinates)) labels.add(label);
  });
  return labels;
}

async function rename({ meta, requests, failed }: State, from: string, to: string): Promise<void> {
  delete meta.labels[from];
  await forEachInSlices(requests.values(), ({ subordinates }) => {
    const holding = subordinates[from];
    if (holding === undefined) return;
    delete subordinates[from];
    subordinates[to] ??= holding;
  });
  for (const [key, failure] of [...failed]) {
    const [fingerprint, label] = partsOfKey(key);
    if (label !== from) continue;
    failed.delete(key);
    failed.set(failureKey(fingerprint, to), failure);
  }
}
