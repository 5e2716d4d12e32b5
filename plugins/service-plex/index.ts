// Plex: claims the server for its owner's account before its first start, and has the settings by which other services
// reach a Plex server.
import { z } from 'zod';
import { definePlugin } from '#core';
import type {} from '../config-files/contract.ts';
import type {} from '../services/contract.ts';
import type {} from '../setup/contract.ts';
import { claim } from './claim.ts';
import { plexSection } from './settings.ts';

const KEY = 'plex';

const factsSchema = z.object({ claimUrl: z.url().describe('where a claim code is exchanged for a token') });

export default definePlugin({
  name: 'service-plex',
  host: '^1',
  after: ['setup'],

  setup(host) {
    host.contribute('config.schema', 'plex', { path: ['dumb'], schema: plexSection });
    host.contribute('service.configure', KEY, {
      configKey: KEY,
      async configure({ block, template, owner, fill }) {
        const files = host.find('config.files');
        const code = String(block.block.plex_claim ?? '').trim();
        if (files === undefined || code === '') return;
        const { claimUrl } = factsSchema.parse(template.facts);
        const file = fill('{config_file}');
        try {
          const present = await files.values(block, file);
          const preferences = await claim(present, code, claimUrl, (url, options) => host.fetch(url, options));
          if (preferences === undefined) return;
          const values = { Preferences: { ...preferences } };
          await files.ensure(block, file, { seed: undefined, values, initial: {}, mode: 0o600, owner });
          host.log.info(`${block.processName}: the server was claimed`);
        } catch (error) {
          // Plex runs without an account, too, and can be claimed at its next start.
          host.log.warn(
            `${block.processName} starts without being claimed; get a new code, set plex_claim and restart it`,
            error,
          );
        }
      },
    });
  },
});
