// NeutArr: writes the lists of media managers that it searches, in one file for each kind of manager.
import path from 'node:path';
import { z } from 'zod';
import { definePlugin, type NamedBlock } from '#core';
import type {} from '../config-files/contract.ts';
import type { ArrInstance } from '../service-arr/contract.ts';
import type {} from '../services/contract.ts';
import type {} from '../setup/contract.ts';

const KEY = 'neutarr';

type Entry = Record<string, unknown>;

const factsSchema = z.object({
  addressKinds: z.array(z.string()).default([]).describe('kinds of managers whose entries have their address twice'),
});

export default definePlugin({
  name: 'service-neutarr',
  host: '^1',
  needs: ['service-arr'],
  after: ['setup'],

  setup(host) {
    const searchedBy = async ({ block }: NamedBlock): Promise<ArrInstance[]> => {
      const links = host.use('service.templates').linksOf(block);
      return (await host.use('arr.applications').managers()).filter(manager => isSearched(manager, links));
    };
    host.contribute('service.configure', KEY, {
      configKey: KEY,
      async configure({ block, owner }) {
        const files = host.find('config.files');
        const directory = (block.block.env as Entry | undefined)?.NEUTARR_CONFIG_DIR;
        if (files === undefined || typeof directory !== 'string') return;
        const managers = await searchedBy(block);
        const { addressKinds } = factsSchema.parse(host.use('service.templates').get(KEY)?.facts ?? {});
        for (const kind of new Set(managers.map(manager => manager.kind))) {
          const file = path.join(directory, `${kind}.json`);
          const wanted = managers.filter(manager => manager.kind === kind);
          const entries = wanted.map(manager => entryOf(manager, addressKinds.includes(kind)));
          const values = (present: Entry) => ({ instances: merged(listOf(present.instances), entries) });
          await files.ensure(block, file, { seed: '{}\n', values, initial: {}, mode: 0o600, owner });
        }
        await host.use('arr.applications').given(block, managers);
      },
    });
    host.contribute('arr.consumer', KEY, { configKey: KEY, managers: searchedBy });
  },
});

/** A NeutArr that names core services searches only managers that belong to one of them. */
function isSearched({ block, links }: ArrInstance, own: readonly string[]): boolean {
  return block.block.use_neutarr === true && (own.length === 0 || links.some(link => own.includes(link)));
}

function entryOf({ name, address, apiKey }: ArrInstance, hasAddress: boolean): Entry {
  const entry = { name, api_url: address, api_key: apiKey, enabled: true };
  return hasAddress ? { ...entry, address } : entry;
}

/** Updates entries with the same name or address; whether an entry is searched remains the user's choice. */
function merged(present: readonly Entry[], wanted: readonly Entry[]): Entry[] {
  const isSame = (one: Entry, other: Entry) => one.name === other.name || one.api_url === other.api_url;
  const added = wanted.filter(entry => !present.some(other => isSame(other, entry)));
  const kept = present.map(entry => {
    const { enabled, ...known } = wanted.find(other => isSame(entry, other)) ?? {};
    return { ...entry, ...known, ...(entry.enabled === undefined && enabled !== undefined ? { enabled } : {}) };
  });
  return [...kept, ...added];
}

function listOf(value: unknown): Entry[] {
  return Array.isArray(value) ? value.filter(entry => typeof entry === 'object' && entry !== null) : [];
}
