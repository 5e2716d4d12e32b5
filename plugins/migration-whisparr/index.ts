// The move of Whisparr to PostgreSQL. Facts: wiki.servarr.com, "Whisparr PostgreSQL Setup" and "Environment Variables".
import { definePlugin } from '#core';
import type {} from '../postgres-migration/contract.ts';

const KEY = 'whisparr';

export default definePlugin({
  name: 'migration-whisparr',
  host: '^1',

  setup(host) {
    host.contribute('migration.service', KEY, {
      configKey: KEY,
      databases: [
        {
          label: 'main',
          files: ['{config_dir}/whisparr2.db', '{config_dir}/whisparr3.db', '{config_dir}/whisparr.db'],
          option: 'postgres_main_db',
          name: 'whisparr-main',
          instanceName: 'whisparr_<slug>_main',
          setting: 'PostgresMainDb',
        },
        {
          label: 'log',
          files: ['{config_dir}/logs.db'],
          option: 'postgres_log_db',
          name: 'whisparr-log',
          instanceName: 'whisparr_<slug>_log',
          setting: 'PostgresLogDb',
        },
      ],
      versions: { table: 'VersionInfo', column: 'Version' },
      keyTables: ['Series', 'Episodes', 'EpisodeFiles', 'History'],
      overridingVariables: ['WHISPARR__POSTGRES__'],
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
        withoutVariables: 'WHISPARR__',
        readyPath: '/ping',
      },
    });
  },
});
