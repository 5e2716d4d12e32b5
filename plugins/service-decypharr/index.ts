// Decypharr: writes debrid providers and media managers to its own file, and registers it as their download client.
import { z } from 'zod';
import { definePlugin } from '#core';
import type {} from '../config-files/contract.ts';
import type {} from '../service-arr/contract.ts';
import type {} from '../services/contract.ts';
import type {} from '../setup/contract.ts';
import type {} from '../symlinks/contract.ts';
import type {} from '../versions/contract.ts';
import { clientsOf } from './clients.ts';
import { earlierForm, isEarlier } from './earlier-form.ts';
import { arrsOf, debridsOf, type Entry } from './entries.ts';

const KEY = 'decypharr';

const factsSchema = z.object({
  blankMount: z.string().optional().describe('kind of mount of a block that names none'),
});

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
