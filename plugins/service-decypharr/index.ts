// Decypharr: writes debrid providers and media managers to its own file, and registers it as their download client.
import { z } from 'zod';
import { definePlugin, type NamedBlock } from '#core';
import type {} from '../config-files/contract.ts';
import type { ArrApplications } from '../service-arr/contract.ts';
import type {} from '../services/contract.ts';
import type {} from '../setup/contract.ts';
import type {} from '../symlinks/contract.ts';
import type {} from '../versions/contract.ts';
import { clientsOf } from './clients.ts';
import { earlierForm, earlierProvider, isEarlier } from './earlier-form.ts';

const KEY = 'decypharr';
/** The application's own value that marks entries as managed. */
const MANAGED_SOURCE = 'auto';

const factsSchema = z.object({
  blankMount: z.string().optional().describe('kind of mount of a block that names none'),
});

type Entry = Record<string, unknown>;
type Linked = Awaited<ReturnType<ArrApplications['linkedTo']>>;

export default definePlugin({
  name: 'service-decypharr',
  host: '^1',
  after: ['setup'],

  setup(host) {
    host.contribute('service.configure', KEY, {
      configKey: KEY,
      async configure({ block, template, fill, owner }) {
        const files = host.find('config.files');
        if (files === undefined) return;
        const { blankMount } = factsSchema.parse(template.facts ?? {});
        const applications = host.find('arr.applications');
        const linked = await applications?.linkedTo(KEY);
        const versions = host.find('service.versions');
        // Refreshed, because the release may just have been installed. An unknown version counts as a present one.
        const isOld = isEarlier(await versions?.refresh(block.processName).catch(() => null));
        const mounts = host.find('service.templates')?.mountOf(block) !== undefined;
        const values = (present: Entry): Entry => ({
          ...(blankMount === undefined ? {} : { mount: { type: String(block.block.mount_type || blankMount) } }),
          ...(isOld ? earlierForm(block, present, { facts: template.facts, mounts }) : {}),
          ...debridsOf(present, block, isOld),
          ...arrsOf(present, linked),
        });
        const wanted = { seed: undefined, values, initial: {}, mode: 0o600, owner };
        await files.ensure(block, fill('{config_file}'), wanted);
        await applications?.given(block, linked?.managers ?? []);
      },
    });
    host.contribute('arr.download-service', KEY, {
      configKey: KEY,
      libraryFolder: 'decypharr_symlinks',
      takesTorrents: true,
      clients: (manager, service) => clientsOf(manager, service, host.find('config.files')),
    });
    host.contribute('symlink.preset', 'decypharr_beta_consolidated', {
      rules: [{ from_prefix: '/mnt/debrid/decypharr/realdebrid/__all__', to_prefix: '/mnt/debrid/decypharr/__all__' }],
    });
    host.contribute('arr.consumer', KEY, {
      configKey: KEY,
      managers: async () => (await host.use('arr.applications').linkedTo(KEY)).managers,
    });
  },
});

function debridsOf(present: Entry, block: NamedBlock, isOld: boolean): Entry {
  const merged = mergeNamed(listOf(present.debrids), providers(block));
  const debrids = isOld ? merged.map(entry => earlierProvider(entry, block)) : merged;
  return debrids.length > 0 ? { debrids } : {};
}

function arrsOf(present: Entry, linked: Linked | undefined): Entry {
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
