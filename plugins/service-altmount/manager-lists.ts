// The lists of media managers in AltMount's own file. Managed entries follow the links; all others belong to users.
import type { ArrApplications, ArrInstance } from '../service-arr/contract.ts';

export type Entry = Record<string, unknown>;
type Linked = Awaited<ReturnType<ArrApplications['linkedTo']>>;

/** The lists for `present`. A managed entry goes with its link; one whose API key cannot be read now is kept. */
export function managerLists(present: Entry, { managers, names }: Linked, kinds: readonly string[]): Entry {
  const arrs = kinds.flatMap(kind => {
    const before = listOf(present[`${kind}_instances`]);
    const kept = before.filter(entry => !isManaged(entry, kind) || names.has(String(entry.name)));
    const own = managers.filter(manager => manager.kind === kind).map(entryOf);
    return before.length + own.length === 0 ? [] : [[`${kind}_instances`, merged(kept, own)]];
  });
  return arrs.length === 0 ? {} : { arrs: Object.fromEntries(arrs) };
}

function entryOf({ kind, name, address, apiKey }: ArrInstance): Entry {
  return { name: `${kind}:${name}`, url: address, api_key: apiKey };
}

/** Merges entries; whether an entry is used remains the user's choice. */
function merged(present: readonly Entry[], own: readonly Entry[]): Entry[] {
  const names = new Set(present.map(entry => entry.name));
  return [
    ...present.map(entry => ({ ...entry, ...own.find(candidate => candidate.name === entry.name) })),
    ...own.filter(entry => !names.has(entry.name)).map(entry => ({ ...entry, enabled: true })),
  ];
}

/** Managed entries are named `<kind>:<instance>`, and have an address on this machine. */
function isManaged({ name, url }: Entry, kind: string): boolean {
  return String(name).startsWith(`${kind}:`) && String(url).startsWith('http://127.0.0.1:');
}

function listOf(value: unknown): Entry[] {
  return Array.isArray(value) ? value.filter(entry => typeof entry === 'object' && entry !== null) : [];
}
