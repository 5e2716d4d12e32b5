// Prowlarr: its facts, against the contract of services that can be moved.
import t from 'tap';
import { holdMigrationService } from '../../contracts/migration-service.ts';
import { contributionOf } from '../../support/templates.ts';

holdMigrationService(t, await contributionOf('migration-prowlarr', 'migration.service', { needs: ['migration-arr'] }), {
  command: ['/opt/prowlarr/Prowlarr/Prowlarr', '--nobrowser', '--data=/prowlarr/default'],
  data: '/prowlarr/default',
  helperCommand: ['/opt/prowlarr/Prowlarr/Prowlarr', '--nobrowser', '--data=/helper'],
  settings: {
    Port: '9696',
    BindAddress: '*',
    EnableSsl: 'True',
    UrlBase: '/prowlarr',
    ApiKey: 'a-key',
    LogLevel: 'info',
  },
  notShared: ['Port', 'BindAddress', 'EnableSsl', 'UrlBase', 'ApiKey'],
});
