// The debrid providers that the wizard knows, by the labels that clients send.
import { Problem } from '#core';

export interface DebridKey {
  /** For example `realdebrid`. */
  readonly provider: string;
  readonly label: string;
  readonly key: string;
}

/** Only letters and digits, in lower case: `Debrid Link` becomes `debridlink`. */
function providerId(label: string): string {
  return label.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/**
 * Pairs labels and keys by position and ignores pairs without a key. Throws a Problem 400 for a label that the service
 * does not know.
 */
export function debridKeys(
  service: string,
  labels: readonly (string | null)[],
  keys: readonly (string | null)[],
  known: readonly string[],
): DebridKey[] {
  return keys.flatMap((key, index) => {
    if (key === null || key.trim() === '') return [];
    const label = labels[index] ?? null;
    if (label === null)
      throw new Problem(400, `${service} was sent a provider key without its provider; name it in debrid_service`);
    const fitting = known.find(candidate => providerId(candidate) === providerId(label));
    if (fitting === undefined)
      throw new Problem(400, `${service} cannot use the provider ${label}; it takes ${known.join(', ')}`);
    return [{ provider: providerId(label), label: fitting, key: key.trim() }];
  });
}
