// Bazarr: its facts, against the contract of services that can be moved.
import t from 'tap';
import { holdMigrationService } from '../../contracts/migration-service.ts';
import { contributionOf } from '../../support/templates.ts';

const program = ['/opt/bazarr/venv/bin/python', '/opt/bazarr/bazarr.py'];

holdMigrationService(t, await contributionOf('migration-bazarr', 'migration.service'), {
  command: [...program, '--config', '/bazarr/data', '--port', '6767'],
  directory: '/opt/bazarr',
  data: '/bazarr/data',
  helperCommand: [...program, '--config', '/helper', '--port', '4711'],
  variables: { POSTGRES_ENABLED: 'false' },
  notShared: ['POSTGRES_ENABLED'],
});
