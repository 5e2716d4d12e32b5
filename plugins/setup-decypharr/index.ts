// Decypharr's own file: the providers whose keys are known, and the media managers that belong to it.
import { definePlugin, type Host, type NamedBlock } from '#core';
import type {} from '../arr/contract.ts';
import type {} from '../config-files/contract.ts';
import type {} from '../service-setup/contract.ts';

const KEY = 'decypharr';
/** Marks entries as ours, in the application's own word. */
const OURS = 'auto';

type Entry = Record<string, unknown>;

export default definePlugin({
  name: 'setup-decypharr',
  host: '^1',
  after: ['service-setup'],

  setup(host) {
    host.contribute('service.configure', KEY, {
      configKey: KEY,
      async configure({ block, fill, owner }) {
        const files = host.find('config.files');
        if (files === undefined) return;
        const present = await files.values(block);
        const values: Record<string, unknown> = {};
        const debrids = mergeNamed(listOf(present.debrids), providers(block));
        if (debrids.length > 0) values.debrids = debrids;
        const arrs = await managers(host);
        const foreign = listOf(present.arrs).filter(entry => entry.source !== OURS);
        if (foreign.length + arrs.length > 0) values.arrs = [...foreign, ...arrs];
        const wanted = { seed: undefined, values, initial: {}, mode: 0o600, owner };
        await files.ensure(block, fill('{config_file}'), wanted);
      },
    });
  },
});

function providers({ block }: NamedBlock): Entry[] {
  return Object.entries((block.api_keys ?? {}) as Record<string, unknown>).flatMap(([provider, key]) =>
    typeof key === 'string' && key !== ''
      ? [{ provider, name: provider, api_key: key, download_api_keys: [key], rate_limit: '250/minute' }]
      : [],
  );
}

/** What is known is brought up to date in the entry of the same name; other members and other entries stay. */
function mergeNamed(present: readonly Entry[], wanted: readonly Entry[]): Entry[] {
  const names = new Set(present.map(entry => entry.name));
  return [
    ...present.map(entry => ({ ...entry, ...wanted.find(candidate => candidate.name === entry.name) })),
    ...wanted.filter(entry => !names.has(entry.name)),
  ];
}

/** Instances that name this service. */
async function managers(host: Host): Promise<Entry[]> {
  const all = (await host.find('arr.applications')?.managers()) ?? [];
  return all
    .filter(({ links }) => links.includes(KEY))
    .map(({ kind, name, address, apiKey }) => ({
      name: `${kind}:${name}`,
      host: address,
      token: apiKey,
      download_uncached: false,
      source: OURS,
    }));
}

function listOf(value: unknown): Entry[] {
  return Array.isArray(value) ? (value as Entry[]) : [];
}
