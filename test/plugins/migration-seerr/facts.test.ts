// Seerr: its facts, against the contract of services that can be moved.
import t from 'tap';
import { holdMigrationService } from '../../contracts/migration-service.ts';
import { contributionOf } from '../../support/templates.ts';

holdMigrationService(t, await contributionOf('migration-seerr', 'migration.service'), {
  command: ['node', 'dist/index.js'],
  directory: '/seerr/4k',
  data: '/seerr/kept',
  helperCommand: ['node', 'dist/index.js'],
  variables: { PORT: '5055', DB_TYPE: 'sqlite', CONFIG_DIRECTORY: '/seerr/kept' },
  notShared: ['PORT', 'DB_TYPE', 'CONFIG_DIRECTORY'],
});
