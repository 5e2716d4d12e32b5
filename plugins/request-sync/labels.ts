// Under which names the state keeps what each subordinate holds: a new name for a known address takes over its entries.
import { failureKey, partsOfKey, type State } from './state.ts';
import { normalAddress } from './topology.ts';

export interface Labelled {
  readonly label: string;
  readonly address: string;
}

/** Brings the state in line with the configured subordinates; what others hold stays under their names. */
export function adoptLabels(state: State, configured: readonly Labelled[]): void {
  const { labels } = state.meta;
  const isNew = ({ label }: Labelled): boolean => !Object.hasOwn(labels, label);
  const added = configured.filter(isNew);
  const inUse = new Set(configured.map(({ label }) => label));
  const others = added.length === 0 ? [] : [...labelsOf(state)].filter(label => !inUse.has(label));
  for (const { label, address } of added) {
    // What has no label of its own, or was written by an earlier program, goes by its address.
    const former = others.find(other => (labels[other] ?? normalAddress(other)) === address);
    if (former !== undefined) rename(state, former, label);
  }
  for (const { label, address } of configured) labels[label] = address;
}

function labelsOf({ meta, requests }: State): Set<string> {
  const labels = new Set(Object.keys(meta.labels));
  for (const { subordinates } of requests.values()) for (const label of Object.keys(subordinates)) labels.add(label);
  return labels;
}

function rename({ meta, requests, failed }: State, from: string, to: string): void {
  delete meta.labels[from];
  for (const { subordinates } of requests.values()) {
    const holding = subordinates[from];
    if (holding === undefined) continue;
    delete subordinates[from];
    subordinates[to] ??= holding;
  }
  for (const [key, failure] of [...failed]) {
    const [fingerprint, label] = partsOfKey(key);
    if (label !== from) continue;
    failed.delete(key);
    failed.set(failureKey(fingerprint, to), failure);
  }
}
