// The move of Lidarr to PostgreSQL. Facts: wiki.servarr.com, "Lidarr PostgreSQL Setup" and "Environment Variables".
import { definePlugin } from '#core';
import type {} from '../postgres-migration/contract.ts';

const KEY = 'lidarr';

export default definePlugin({
  name: 'migration-lidarr',
  host: '^1',

  setup(host) {
    host.contribute('migration.service', KEY, {
      configKey: KEY,
      minimumVersion: '1.1.2.2890',
      databases: [
        {
          label: 'main',
          files: ['{config_dir}/lidarr.db'],
          option: 'postgres_main_db',
          name: 'lidarr-main',
          instanceName: 'lidarr_<slug>_main',
          setting: 'PostgresMainDb',
        },
        {
          label: 'log',
          files: ['{config_dir}/logs.db'],
          option: 'postgres_log_db',
          name: 'lidarr-log',
          instanceName: 'lidarr_<slug>_log',
          setting: 'PostgresLogDb',
        },
      ],
      versions: { table: 'VersionInfo', column: 'Version' },
      keyTables: ['Artists', 'Albums', 'TrackFiles', 'History'],
      overridingVariables: ['LIDARR__POSTGRES__'],
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
        withoutVariables: 'LIDARR__',
        readyPath: '/ping',
      },
    });
  },
});
