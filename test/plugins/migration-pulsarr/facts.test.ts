// Pulsarr: its facts, against the contract of services that can be moved.
import t from 'tap';
import { holdMigrationService } from '../../contracts/migration-service.ts';
import { contributionOf } from '../../support/templates.ts';

const program = '/config/.bun/bin/bun';

holdMigrationService(t, await contributionOf('migration-pulsarr', 'migration.service'), {
  command: [program, 'run', '--bun', 'dist/server.js'],
  directory: '/pulsarr',
  data: '/pulsarr/data/db/pulsarr.db',
  helperCommand: [program, 'run', '--bun', 'migrations/migrate.ts'],
  variables: { dbType: 'sqlite', dbPath: '/pulsarr/data/db/pulsarr.db' },
  notShared: ['dbType', 'dbPath'],
});
