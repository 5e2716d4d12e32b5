// Moves services from SQLite to PostgreSQL and back, with checks before and, on request, a rehearsal. Other plugins say
// which services can be moved.
import { definePlugin } from '#core';
import { endedOrLate } from '#kit/deadline';
import { ConfigGuard } from './config-guard.ts';
import type { Engine } from './engine.ts';
import { isActive } from './job.ts';
import { JobFiles } from './job-files.ts';
import { registerMigrationEvents } from './migration-events.ts';
import { ownerOf, Places } from './places.ts';
import { servicePoint } from './points.ts';
import { registerRoutes } from './routes.ts';

const SERVER = 'postgres';
/** Recovery may change the configuration by which other plugins prepare a start, so it comes first. */
const FIRST = -100;
/** Long, because a large backup is compared with its digests before the service starts. */
const PREPARE_MS = 900_000;
/** Less than a plugin is given to end. */
const END_MS = 4_000;

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
    const interrupted = files.list().filter(({ job }) => isActive(job));
    const context = { host, services, files, places, guard: new ConfigGuard(host) };
    let engine: Promise<Engine> | undefined;
    // Loaded on use, because most hosts never move anything.
    const load = (): Promise<Engine> => {
      engine ??= import('./engine.ts').then(({ openEngine }) => openEngine(context, interrupted));
      return engine;
    };

    registerMigrationEvents(host);
    registerRoutes(host, { files, migrations: async () => (await load()).migrations });
    host.contribute('host.fact', 'postgres_migration_service_keys', {
      values: () => [...services].map(({ key }) => key).sort(),
    });

    host.tap(
      'process.prepare',
      async plan => {
        if (interrupted.some(({ job }) => job.process_name === plan.processName))
          await (await load()).recovery.beforeStart(plan.processName);
        return plan;
      },
      { stage: FIRST, deadlineMs: PREPARE_MS },
    );
    const recover = async (): Promise<void> => {
      const { recovery } = await load();
      await recovery.run();
    };
    host.tap('host.ready', () => {
      if (files.list().length === 0) return;
      recover().catch((error: unknown) => host.log.error('interrupted migrations were not recovered', error));
    });
    const clear = async (): Promise<void> => (await load()).leftovers.clear();
    host.tap('process.status', ({ configKey, status }) => {
      if (configKey !== SERVER || status !== 'running' || !files.list().some(({ work }) => work.isUndoDue)) return;
      clear().catch((error: unknown) => host.log.warn('PostgreSQL could not be cleared', error));
    });
    return async () => {
      const settled = engine?.then(({ migrations }) => migrations.settled());
      if (settled !== undefined) await endedOrLate(settled, END_MS);
      await files.close();
    };
  },
});
