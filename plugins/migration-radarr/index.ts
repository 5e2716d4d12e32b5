// The move of Radarr to PostgreSQL. Facts: wiki.servarr.com, "Radarr PostgreSQL Setup" and "Environment Variables".
import { definePlugin } from '#core';
import type {} from '../postgres-migration/contract.ts';

const KEY = 'radarr';

export default definePlugin({
  name: 'migration-radarr',
  host: '^1',

  setup(host) {
    host.contribute('migration.service', KEY, {
      configKey: KEY,
      minimumVersion: '4.1.0.6133',
      databases: [
        {
          label: 'main',
          files: ['{config_dir}/radarr.db'],
          option: 'postgres_main_db',
          name: 'radarr-main',
          instanceName: 'radarr_<slug>_main',
          setting: 'PostgresMainDb',
        },
        {
          label: 'log',
          files: ['{config_dir}/logs.db'],
          option: 'postgres_log_db',
          name: 'radarr-log',
          instanceName: 'radarr_<slug>_log',
          setting: 'PostgresLogDb',
        },
      ],
      versions: { table: 'VersionInfo', column: 'Version' },
      keyTables: ['Movies', 'MovieFiles', 'History'],
      overridingVariables: ['RADARR__POSTGRES__'],
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
        withoutVariables: 'RADARR__',
        readyPath: '/ping',
      },
    });
  },
});
