// The move of Seerr to PostgreSQL. Facts: docs.seerr.dev, "Configuring the Database"; `CONFIG_DIRECTORY` and `HOST` of
// its server.
import { definePlugin } from '#core';
import type {} from '../postgres-migration/contract.ts';

const KEY = 'seerr';

export default definePlugin({
  name: 'migration-seerr',
  host: '^1',

  setup(host) {
    host.contribute('migration.service', KEY, {
      configKey: KEY,
      data: { variable: 'CONFIG_DIRECTORY', otherwise: '{config_dir}/config' },
      databases: [
        {
          label: 'main',
          files: ['{data}/db/db.sqlite3'],
          option: 'postgres_database',
          name: KEY,
          instanceName: 'seerr_<slug>',
        },
      ],
      // The schema updates for SQLite and those for PostgreSQL have different names.
      versions: { table: 'migrations', column: 'name', common: 'nothing' },
      keyTables: ['user', 'media', 'media_request', 'settings'],
      overridingVariables: ['DB_SOCKET_PATH', 'DB_USE_SSL'],
      variables: {
        DB_TYPE: 'postgres',
        DB_HOST: '{host}',
        DB_PORT: '{port}',
        DB_NAME: '{main}',
        DB_USER: '{user}',
        DB_PASS: '{password}',
      },
      helper: {
        isInPlace: true,
        variables: { CONFIG_DIRECTORY: '{data}', PORT: '{port}', HOST: '127.0.0.1' },
        withoutVariables: 'DB_',
        // Unlike `/api/v1/status`, this path makes the program ask nothing of the network.
        readyPath: '/api/v1/settings/public',
      },
    });
  },
});
