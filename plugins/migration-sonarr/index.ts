// The move of Sonarr to PostgreSQL. Facts: wiki.servarr.com, "Sonarr PostgreSQL Setup" and "Environment Variables".
import { definePlugin } from '#core';
import type {} from '../postgres-migration/contract.ts';

const KEY = 'sonarr';

export default definePlugin({
  name: 'migration-sonarr',
  host: '^1',

  setup(host) {
    host.contribute('migration.service', KEY, {
      configKey: KEY,
      minimumVersion: '4.0.0.615',
      databases: [
        {
          label: 'main',
          files: ['{config_dir}/sonarr.db'],
          option: 'postgres_main_db',
          name: 'sonarr-main',
          instanceName: 'sonarr_<slug>_main',
          setting: 'PostgresMainDb',
        },
        {
          label: 'log',
          files: ['{config_dir}/logs.db'],
          option: 'postgres_log_db',
          name: 'sonarr-log',
          instanceName: 'sonarr_<slug>_log',
          setting: 'PostgresLogDb',
        },
      ],
      versions: { table: 'VersionInfo', column: 'Version' },
      keyTables: ['Series', 'Episodes', 'EpisodeFiles', 'History'],
      overridingVariables: ['SONARR__POSTGRES__'],
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
        withoutVariables: 'SONARR__',
        readyPath: '/ping',
      },
    });
  },
});
