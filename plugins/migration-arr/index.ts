// What the moves of all applications of the Arr family to PostgreSQL have in common. Facts: wiki.servarr.com,
// "PostgreSQL Setup" and "Environment Variables" of each.
import { definePlugin } from '#core';
import type { MigrationService } from '../postgres-migration/contract.ts';
import type { ArrMigration } from './contract.ts';

export default definePlugin({
  name: 'migration-arr',
  host: '^1',

  setup(host) {
    host.provide('migration.arr', { serviceOf });
  },
});

function serviceOf({ configKey: key, minimumVersion, files, keyTables }: ArrMigration): MigrationService {
  const variables = `${key.toUpperCase()}__`;
  return {
    configKey: key,
    ...(minimumVersion === undefined ? {} : { minimumVersion }),
    databases: [
      {
        label: 'main',
        files: files ?? [`{config_dir}/${key}.db`],
        option: 'postgres_main_db',
        name: `${key}-main`,
        instanceName: `${key}_<slug>_main`,
        setting: 'PostgresMainDb',
      },
      {
        label: 'log',
        files: ['{config_dir}/logs.db'],
        option: 'postgres_log_db',
        name: `${key}-log`,
        instanceName: `${key}_<slug>_log`,
        setting: 'PostgresLogDb',
      },
    ],
    versions: { table: 'VersionInfo', column: 'Version' },
    keyTables,
    overridingVariables: [`${variables}POSTGRES__`],
    settingsFile: 'config.xml',
    settingsRoot: 'Config',
    settings: {
      PostgresUser: '{user}',
      PostgresPassword: '{password}',
      PostgresPort: '{port}',
      PostgresHost: '{host}',
      PostgresMainDb: '{main}',
      PostgresLogDb: '{log}',
    },
    helper: {
      arguments: { '--data=': '{data}' },
      flags: ['--nobrowser'],
      settings: {
        BindAddress: '127.0.0.1',
        Port: '{port}',
        EnableSsl: 'False',
        UrlBase: '',
        ApiKey: '{key}',
        UpdateAutomatically: 'False',
        AnalyticsEnabled: 'False',
      },
      logSetting: 'LogDbEnabled',
      withoutVariables: variables,
      readyPath: '/ping',
    },
  };
}
