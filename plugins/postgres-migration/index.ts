// Moves services from SQLite to PostgreSQL: guarded, rehearsed, and back again. Plugins say which services can be moved.
import { definePlugin } from '#core';
import { ConfigGuard } from './config-guard.ts';
import { JobFiles } from './job-files.ts';
import { Migrations } from './migrations.ts';
import { Places } from './places.ts';
import { servicePoint } from './points.ts';
import { ownerOf, Recovery } from './recovery.ts';
import { registerRoutes } from './routes.ts';
import { Server } from './server.ts';
import { SqliteSources } from './sqlite-source.ts';

const SERVER = 'postgres';
/** Before other plugins prepare a start by what the configuration says. */
const FIRST = -100;
/** A large backup is compared with its digests first. */
const PREPARE_MS = 900_000;

export default definePlugin({
  name: 'postgres-migration',
  host: '^1',
  needs: ['process', 'config-files', 'setup', 'service-postgres'],
  after: ['config-migrations'],

  async setup(host) {
    const services = host.point('migration.service', servicePoint);
    const places = new Places(host.paths.configDir, () => ownerOf(host));
    const files = new JobFiles(places, host.log);
    await files.load();
    const context = {
      host,
      services,
      files,
      places,
      server: new Server(host),
      sources: new SqliteSources(),
      guard: new ConfigGuard(host),
    };
    const migrations = new Migrations(context);
    const recovery = new Recovery(context, migrations);

    registerRoutes(host, migrations, files);
    host.contribute('host.fact', 'postgres_migration_service_keys', {
      values: () => [...services].map(({ key }) => key).sort(),
    });

    host.tap(
      'process.prepare',
      async plan => {
        await recovery.beforeStart(plan.processName);
        return plan;
      },
      { stage: FIRST, deadlineMs: PREPARE_MS },
    );
    host.tap('host.ready', () => {
      recovery.run().catch((error: unknown) => host.log.error('interrupted migrations were not recovered', error));
    });
    host.tap('process.status', ({ configKey, status }) => {
      if (configKey !== SERVER || status !== 'running') return;
      recovery.clear().catch((error: unknown) => host.log.warn('PostgreSQL could not be cleared', error));
    });
    return () => migrations.settled();
  },
});
