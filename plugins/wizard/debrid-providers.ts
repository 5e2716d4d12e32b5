// The providers that the wizard knows, by the label it sends.
import { Problem } from '#core';

export interface DebridKey {
  /** For example `realdebrid`. */
  readonly provider: string;
  readonly label: string;
  readonly key: string;
}

/** Lower case, letters and digits only: `Debrid Link` is `debridlink`. */
function providerId(label: string): string {
  return label.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** Labels and keys paired by their place; pairs without a key are none. Throws a Problem 400 for one that does not fit. */
export function debridKeys(
  labels: readonly string[],
  keys: readonly (string | null)[],
  known: readonly string[],
): DebridKey[] {
  return keys.flatMap((key, index) => {
    if (key === null || key.trim() === '') return [];
    const label = labels[index];
    if (label === undefined) throw new Problem(400, 'a provider key was sent without its provider');
    const fitting = known.find(candidate => providerId(candidate) === providerId(label));
    if (fitting === undefined) throw new Problem(400, `the provider ${label} cannot be used with this service`);
    return [{ provider: providerId(label), label: fitting, key: key.trim() }];
  });
}
