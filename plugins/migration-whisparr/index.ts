// The move of Whisparr to PostgreSQL. Facts: wiki.servarr.com, "Whisparr PostgreSQL Setup" and "Environment Variables".
import { definePlugin } from '#core';
import type {} from '../migration-arr/contract.ts';
import type {} from '../postgres-migration/contract.ts';

const KEY = 'whisparr';

export default definePlugin({
  name: 'migration-whisparr',
  host: '^1',
  needs: ['migration-arr'],

  setup(host) {
    host.contribute(
      'migration.service',
      KEY,
      host.use('migration.arr').serviceOf({
        configKey: KEY,
        files: ['{config_dir}/whisparr2.db', '{config_dir}/whisparr3.db', '{config_dir}/whisparr.db'],
        keyTables: ['Series', 'Episodes', 'EpisodeFiles', 'History'],
      }),
    );
  },
});
