// Whisparr: its facts, against the contract of services that can be moved.
import t from 'tap';
import { holdMigrationService } from '../../contracts/migration-service.ts';
import { contributionOf } from '../../support/templates.ts';

holdMigrationService(t, await contributionOf('migration-whisparr', 'migration.service', { needs: ['migration-arr'] }), {
  command: ['/opt/whisparr/Whisparr/Whisparr', '--nobrowser', '--data=/whisparr/default'],
  data: '/whisparr/default',
  helperCommand: ['/opt/whisparr/Whisparr/Whisparr', '--nobrowser', '--data=/helper'],
  settings: {
    Port: '6969',
    BindAddress: '*',
    EnableSsl: 'True',
    UrlBase: '/whisparr',
    ApiKey: 'a-key',
    LogLevel: 'info',
  },
  notShared: ['Port', 'BindAddress', 'EnableSsl', 'UrlBase', 'ApiKey'],
});
