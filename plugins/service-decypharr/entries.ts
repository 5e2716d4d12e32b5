// The entries of debrid providers and media managers in Decypharr's file; those that users made are kept.
import type { NamedBlock } from '#core';
import type { ArrApplications } from '../service-arr/contract.ts';
import { earlierProvider } from './earlier-form.ts';

/** The application's own value that marks entries as managed. */
const MANAGED_SOURCE = 'auto';

export type Entry = Record<string, unknown>;
type Linked = Awaited<ReturnType<ArrApplications['linkedTo']>>;

/** The member with the debrid providers; none when there are none. */
export function debridsOf(present: Entry, block: NamedBlock, isOld: boolean): Entry {
  const merged = mergeNamed(listOf(present.debrids), providers(block));
  const debrids = isOld ? merged.map(entry => earlierProvider(entry, block)) : merged;
  return debrids.length > 0 ? { debrids } : {};
}

/** The member with the media managers; none when there are none, and were none. */
export function arrsOf(present: Entry, linked: Linked | undefined): Entry {
  const arrs = managers(listOf(present.arrs), linked);
  return arrs.length > 0 || present.arrs !== undefined ? { arrs } : {};
}

function providers({ block }: NamedBlock): Entry[] {
  return Object.entries((block.api_keys ?? {}) as Record<string, unknown>).flatMap(([provider, key]) =>
    typeof key === 'string' && key !== ''
      ? [
          {
            provider: providerId(provider),
            name: provider,
            api_key: key,
            download_api_keys: [key],
            rate_limit: '250/minute',
          },
        ]
      : [],
  );
}

/** The id by which Decypharr knows a provider: `Debrid Link` becomes `debridlink`. */
function providerId(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** Updates entries with the same names; other members and other entries are kept. */
function mergeNamed(present: readonly Entry[], wanted: readonly Entry[], initial: Entry = {}): Entry[] {
  const names = new Set(present.map(entry => entry.name));
  return [
    ...present.map(entry => ({ ...entry, ...wanted.find(candidate => candidate.name === entry.name) })),
    ...wanted.filter(entry => !names.has(entry.name)).map(entry => ({ ...entry, ...initial })),
  ];
}

/** Removes managed entries whose link is gone; an entry whose key cannot be read at present is kept. */
function managers(present: readonly Entry[], linked: Linked | undefined): Entry[] {
  if (linked === undefined) return [...present];
  const kept = present.filter(entry => entry.source !== MANAGED_SOURCE || linked.names.has(String(entry.name)));
  const wanted = linked.managers.map(({ kind, name, address, apiKey }) => ({
    name: `${kind}:${name}`,
    host: address,
    token: apiKey,
    source: MANAGED_SOURCE,
  }));
  return mergeNamed(kept, wanted, { download_uncached: false });
}

function listOf(value: unknown): Entry[] {
  return Array.isArray(value) ? value.filter(entry => typeof entry === 'object' && entry !== null) : [];
}
