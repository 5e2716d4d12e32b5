// Sonarr: its facts, against the contract of services that can be moved.
import t from 'tap';
import { holdMigrationService } from '../../contracts/migration-service.ts';
import { contributionOf } from '../../support/templates.ts';

holdMigrationService(t, await contributionOf('migration-sonarr', 'migration.service', { needs: ['migration-arr'] }), {
  command: ['/opt/sonarr/Sonarr/Sonarr', '--nobrowser', '--data=/sonarr/default'],
  data: '/sonarr/default',
  helperCommand: ['/opt/sonarr/Sonarr/Sonarr', '--nobrowser', '--data=/helper'],
  settings: {
    Port: '8989',
    BindAddress: '*',
    EnableSsl: 'True',
    UrlBase: '/sonarr',
    ApiKey: 'a-key',
    LogLevel: 'info',
  },
  notShared: ['Port', 'BindAddress', 'EnableSsl', 'UrlBase', 'ApiKey'],
});
