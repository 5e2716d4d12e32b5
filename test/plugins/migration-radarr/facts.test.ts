// Radarr: its facts, against the contract of services that can be moved.
import t from 'tap';
import { holdMigrationService } from '../../contracts/migration-service.ts';
import { contributionOf } from '../../support/templates.ts';

holdMigrationService(t, await contributionOf('migration-radarr', 'migration.service', { needs: ['migration-arr'] }), {
  command: ['/opt/radarr/Radarr/Radarr', '--nobrowser', '--data=/radarr/default'],
  data: '/radarr/default',
  helperCommand: ['/opt/radarr/Radarr/Radarr', '--nobrowser', '--data=/helper'],
  settings: {
    Port: '7878',
    BindAddress: '*',
    EnableSsl: 'True',
    UrlBase: '/radarr',
    ApiKey: 'a-key',
    LogLevel: 'info',
  },
  notShared: ['Port', 'BindAddress', 'EnableSsl', 'UrlBase', 'ApiKey'],
});
