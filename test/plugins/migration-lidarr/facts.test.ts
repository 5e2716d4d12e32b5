// Lidarr: its facts, against the contract of services that can be moved.
import t from 'tap';
import { holdMigrationService } from '../../contracts/migration-service.ts';
import { contributionOf } from '../../support/templates.ts';

holdMigrationService(t, await contributionOf('migration-lidarr', 'migration.service', { needs: ['migration-arr'] }), {
  command: ['/opt/lidarr/Lidarr/Lidarr', '--nobrowser', '--data=/lidarr/default'],
  data: '/lidarr/default',
  helperCommand: ['/opt/lidarr/Lidarr/Lidarr', '--nobrowser', '--data=/helper'],
  settings: {
    Port: '8686',
    BindAddress: '*',
    EnableSsl: 'True',
    UrlBase: '/lidarr',
    ApiKey: 'a-key',
    LogLevel: 'info',
  },
  notShared: ['Port', 'BindAddress', 'EnableSsl', 'UrlBase', 'ApiKey'],
});
