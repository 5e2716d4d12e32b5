// The move of Pulsarr to PostgreSQL. Facts: jamcalli.github.io/Pulsarr, "PostgreSQL" and "Environment Variables".
import { definePlugin } from '#core';
import type {} from '../postgres-migration/contract.ts';

const KEY = 'pulsarr';

export default definePlugin({
  name: 'migration-pulsarr',
  host: '^1',

  setup(host) {
    host.contribute('migration.service', KEY, {
      configKey: KEY,
      data: { variable: 'dbPath', otherwise: '{config_dir}/data/db/pulsarr.db' },
      databases: [
        {
          label: 'main',
          files: ['{data}'],
          option: 'postgres_database',
          name: KEY,
          instanceName: 'pulsarr_<slug>',
        },
      ],
      versions: { table: 'knex_migrations', column: 'name', common: 'all' },
      bookkeeping: ['knex_migrations_lock'],
      keyTables: ['users', 'notifications', 'webhooks'],
      overridingVariables: ['DBCONNECTIONSTRING'],
      variables: {
        dbType: 'postgres',
        dbHost: '{host}',
        dbPort: '{port}',
        dbName: '{main}',
        dbUser: '{user}',
        dbPassword: '{password}',
      },
      helper: {
        script: ['run', '--bun', 'migrations/migrate.ts'],
        isInPlace: true,
        withoutVariables: 'DB',
      },
    });
  },
});
