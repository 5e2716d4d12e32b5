// The move of Prowlarr to PostgreSQL. Facts: wiki.servarr.com, "Prowlarr PostgreSQL Setup" and "Environment Variables".
import { definePlugin } from '#core';
import type {} from '../migration-arr/contract.ts';
import type {} from '../postgres-migration/contract.ts';

const KEY = 'prowlarr';

export default definePlugin({
  name: 'migration-prowlarr',
  host: '^1',
  needs: ['migration-arr'],

  setup(host) {
    host.contribute(
      'migration.service',
      KEY,
      host.use('migration.arr').serviceOf({
        configKey: KEY,
        keyTables: ['Indexers', 'Applications', 'History'],
      }),
    );
  },
});
