// The move of Prowlarr to PostgreSQL. Facts: wiki.servarr.com, "Prowlarr PostgreSQL Setup" and "Environment Variables".
import { definePlugin } from '#core';
import type {} from '../postgres-migration/contract.ts';

const KEY = 'prowlarr';

export default definePlugin({
  name: 'migration-prowlarr',
  host: '^1',

  setup(host) {
    host.contribute('migration.service', KEY, {
      configKey: KEY,
      databases: [
        {
          label: 'main',
          files: ['{config_dir}/prowlarr.db'],
          option: 'postgres_main_db',
          name: 'prowlarr-main',
          instanceName: 'prowlarr_<slug>_main',
          setting: 'PostgresMainDb',
        },
        {
          label: 'log',
          files: ['{config_dir}/logs.db'],
          option: 'postgres_log_db',
          name: 'prowlarr-log',
          instanceName: 'prowlarr_<slug>_log',
          setting: 'PostgresLogDb',
        },
      ],
      versions: { table: 'VersionInfo', column: 'Version' },
      keyTables: ['Indexers', 'Applications', 'History'],
      overridingVariables: ['PROWLARR__POSTGRES__'],
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
        withoutVariables: 'PROWLARR__',
        readyPath: '/ping',
      },
    });
  },
});
