// The move of Sonarr to PostgreSQL. Facts: wiki.servarr.com, "Sonarr PostgreSQL Setup" and "Environment Variables".
import { definePlugin } from '#core';
import type {} from '../migration-arr/contract.ts';
import type {} from '../postgres-migration/contract.ts';

const KEY = 'sonarr';

export default definePlugin({
  name: 'migration-sonarr',
  host: '^1',
  needs: ['migration-arr'],

  setup(host) {
    host.contribute(
      'migration.service',
      KEY,
      host.use('migration.arr').serviceOf({
        configKey: KEY,
        minimumVersion: '4.0.0.615',
        keyTables: ['Series', 'Episodes', 'EpisodeFiles', 'History'],
      }),
    );
  },
});
