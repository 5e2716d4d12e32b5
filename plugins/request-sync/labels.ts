// Under which names the state keeps what each subordinate holds: a new name for a known address takes over its entries.
import { failureKey, partsOfKey, type State } from './state.ts';

export interface Labelled {
  readonly label: string;
  readonly address: string;
}

/** Brings the state in line with the configured subordinates; what others hold stays under their names. */
export function adoptLabels({ meta, requests, failed }: State, configured: readonly Labelled[]): void {
  const inUse = new Set(configured.map(({ label }) => label));
  for (const { label, address } of configured) {
    const isKnown = Object.hasOwn(meta.labels, label);
    // Without a label of its own an address is its label.
    const former = [...Object.keys(meta.labels), address].find(
      other => !inUse.has(other) && (meta.labels[other] ?? other) === address,
    );
    meta.labels[label] = address;
    if (isKnown || former === undefined) continue;
    delete meta.labels[former];
    for (const { subordinates } of requests.values()) {
      const holding = subordinates[former];
      if (holding === undefined) continue;
      delete subordinates[former];
      subordinates[label] ??= holding;
    }
    for (const [key, failure] of [...failed]) {
      const [fingerprint, of] = partsOfKey(key);
      if (of !== former) continue;
      failed.delete(key);
      failed.set(failureKey(fingerprint, label), failure);
    }
  }
}
