// The move of Bazarr to PostgreSQL. Facts: wiki.bazarr.media, "PostgreSQL Database"; its list of command line
// arguments.
import { definePlugin } from '#core';
import type {} from '../postgres-migration/contract.ts';

const KEY = 'bazarr';

export default definePlugin({
  name: 'migration-bazarr',
  host: '^1',

  setup(host) {
    host.contribute('migration.service', KEY, {
      configKey: KEY,
      minimumVersion: '1.1.5',
      data: { argument: '--config', otherwise: '/bazarr/data' },
      databases: [
        {
          label: 'main',
          files: ['{data}/db/bazarr.db'],
          option: 'postgres_database',
          name: KEY,
          instanceName: 'bazarr_<slug>',
        },
      ],
      versions: { table: 'alembic_version', column: 'version_num', common: 'all' },
      keyTables: ['table_shows', 'table_movies', 'table_history', 'table_history_movie'],
      overridingVariables: ['POSTGRES_URL'],
      settingsFile: 'config/config.yaml',
      variables: {
        POSTGRES_ENABLED: 'true',
        POSTGRES_HOST: '{host}',
        POSTGRES_PORT: '{port}',
        POSTGRES_DATABASE: '{main}',
        POSTGRES_USERNAME: '{user}',
        POSTGRES_PASSWORD: '{password}',
      },
      helper: {
        arguments: { '--config': '{data}', '--port': '{port}' },
        withoutVariables: 'POSTGRES_',
        // A new installation has no password, so only this machine may reach it.
        settingsText: 'general:\n  ip: 127.0.0.1\n',
        readyPath: '/',
      },
    });
  },
});
