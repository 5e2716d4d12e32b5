// AltMount: writes its mount, the media managers and their categories to its own file, and registers it as a download
// client of the managers.
import path from 'node:path';
import { definePlugin } from '#core';
import type {} from '../config-files/contract.ts';
import type {} from '../database-health/contract.ts';
import type {} from '../service-arr/contract.ts';
import type {} from '../setup/contract.ts';
import { type Entry, managerLists } from './manager-lists.ts';
import { databaseAfter, settingsFor } from './settings.ts';

const KEY = 'altmount';
const CATEGORIES = ['Default', 'movies', 'tv', 'music', 'adult'];

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
            ...managerLists((arrs ?? {}) as Entry, linked, applications.kinds),
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
        // A file that cannot be read is reported when the service starts; until then the template's place is used.
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
