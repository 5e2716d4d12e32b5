// AltMount: keeps its mount, the media managers and their categories in its own file, and registers it as their download
// client.
import path from 'node:path';
import { definePlugin } from '#core';
import type {} from '../config-files/contract.ts';
import type {} from '../database-health/contract.ts';
import type { ArrApplications, ArrInstance } from '../service-arr/contract.ts';
import type {} from '../setup/contract.ts';
import { databaseAfter, settingsFor } from './settings.ts';

const KEY = 'altmount';
const CATEGORIES = ['Default', 'movies', 'tv', 'music', 'adult'];
type Entry = Record<string, unknown>;
type Linked = Awaited<ReturnType<ArrApplications['linkedTo']>>;

export default definePlugin({
  name: 'service-altmount',
  host: '^1',
  needs: ['service-arr'],
  after: ['setup'],

  setup(host) {
    host.contribute('service.configure', KEY, {
      configKey: KEY,
      async configure({ block, template, fill, owner }) {
        const files = host.find('config.files');
        if (files === undefined) return;
        const applications = host.use('arr.applications');
        const linked = await applications.linkedTo(KEY);
        const categories = CATEGORIES.map((name, order) => ({ name, order, priority: 0, dir: name.toLowerCase() }));
        await files.ensure(block, fill('{config_file}'), {
          seed: undefined,
          values: ({ arrs, database }) => ({
            ...settingsFor(block, template),
            ...databaseAfter(block, template, database, fill),
            ...lists((arrs ?? {}) as Entry, linked, applications.kinds),
          }),
          initial: { sabnzbd: { categories } },
          mode: 0o600,
          owner,
        });
        await applications.given(block, linked.managers);
      },
    });
    host.contribute('arr.download-service', KEY, {
      configKey: KEY,
      async clients({ facts }, { block }) {
        const { port, env } = block;
        const apiKey = ((env ?? {}) as Entry).ALTMOUNT_API_KEY;
        if (!Number.isInteger(port) || typeof apiKey !== 'string' || apiKey === '') return [];
        const fields = { port, urlBase: '/sabnzbd', apiKey };
        return [{ name: 'altmount', implementation: 'Sabnzbd', fields, category: facts.media }];
      },
    });
    host.contribute('database.stores', KEY, {
      configKey: KEY,
      async stores(service) {
        // A file that cannot be read is told when the service starts; until then its database is where it usually is.
        const values = await host
          .find('config.files')
          ?.values(service)
          .catch(() => undefined);
        const { type, path: file, dsn } = (values?.database ?? {}) as Entry;
        const { config_dir: directory } = service.block;
        if (typeof type !== 'string' || typeof directory !== 'string') return undefined;
        return [
          {
            engine: type,
            role: 'main',
            files: [path.resolve(directory, typeof file === 'string' && file !== '' ? file : 'altmount.db')],
            ...(typeof dsn === 'string' ? { connection: { uri: dsn } } : {}),
          },
        ];
      },
    });
    host.contribute('arr.consumer', KEY, {
      configKey: KEY,
      managers: async () => (await host.use('arr.applications').linkedTo(KEY)).managers,
    });
  },
});

/** Removes a managed entry when its link is gone; an entry whose key cannot be read at present is kept. */
function lists(present: Entry, { managers, names }: Linked, kinds: readonly string[]): Entry {
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

/** Managed entries have such a name and an address on this machine; all others belong to users. */
function isManaged({ name, url }: Entry, kind: string): boolean {
  return String(name).startsWith(`${kind}:`) && String(url).startsWith('http://127.0.0.1:');
}

function listOf(value: unknown): Entry[] {
  return Array.isArray(value) ? value.filter(entry => typeof entry === 'object' && entry !== null) : [];
}
