// The move of Lidarr to PostgreSQL. Facts: wiki.servarr.com, "Lidarr PostgreSQL Setup" and "Environment Variables".
import { definePlugin } from '#core';
import type {} from '../migration-arr/contract.ts';
import type {} from '../postgres-migration/contract.ts';

const KEY = 'lidarr';

export default definePlugin({
  name: 'migration-lidarr',
  host: '^1',
  needs: ['migration-arr'],

  setup(host) {
    host.contribute(
      'migration.service',
      KEY,
      host.use('migration.arr').serviceOf({
        configKey: KEY,
        minimumVersion: '1.1.2.2890',
        keyTables: ['Artists', 'Albums', 'TrackFiles', 'History'],
      }),
    );
  },
});
