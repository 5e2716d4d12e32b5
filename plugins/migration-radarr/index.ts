// The move of Radarr to PostgreSQL. Facts: wiki.servarr.com, "Radarr PostgreSQL Setup" and "Environment Variables".
import { definePlugin } from '#core';
import type {} from '../migration-arr/contract.ts';
import type {} from '../postgres-migration/contract.ts';

const KEY = 'radarr';

export default definePlugin({
  name: 'migration-radarr',
  host: '^1',
  needs: ['migration-arr'],

  setup(host) {
    host.contribute(
      'migration.service',
      KEY,
      host.use('migration.arr').serviceOf({
        configKey: KEY,
        minimumVersion: '4.1.0.6133',
        keyTables: ['Movies', 'MovieFiles', 'History'],
      }),
    );
  },
});
