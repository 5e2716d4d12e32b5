// Brings configurations of earlier releases to the present form, before processes are started from them. Each change is
// made once.
import { definePlugin, type Host } from '#core';
import type {} from '../services/contract.ts';
import { migrationsOf } from './migrations.ts';

export default definePlugin({
  name: 'config-migrations',
  host: '^1',
  needs: ['services'],
  after: ['process'],

  async setup(host) {
    const schema = host.z.array(host.z.string()).optional().describe('the changes to the present form that were made');
    host.contribute('config.schema', 'made', { path: ['dumb', 'config_migrations'], schema });
    const store = host.use('config.store');
    if (store.state === 'valid') return migrate(host);
    // Processes run from a backup by now; a configuration that is mended meanwhile is migrated at a later start.
    if (store.state !== 'safe') return;
    let isMended = false;
    host.tap('config.changed', async () => {
      if (isMended || store.state !== 'valid') return;
      isMended = true;
      await migrate(host);
    });
  },
});

async function migrate(host: Host): Promise<void> {
  const store = host.use('config.store');
  for (const { id, isOnce, updates, obstacle } of migrationsOf(host.use('service.templates'))) {
    const applied = (store.get('dumb.config_migrations') ?? []) as string[];
    if (isOnce === true && applied.includes(id)) continue;
    const stored = store.stored([]) as Record<string, unknown>;
    const reason = obstacle?.(store.root(), stored);
    if (reason !== undefined) host.log.warn(reason);
    const change = updates(store.root(), stored);
    if (change === undefined) continue;
    const ids = [...new Set([...applied, id])];
    try {
      await store.update({
        ...change,
        updates: { ...change.updates, dumb: { config_migrations: ids } },
        persist: true,
        mayRemove: true,
        actor: 'config-migrations',
      });
      host.log.info(`the configuration was brought to its present form: ${id}`);
    } catch (error) {
      host.log.error(`the configuration could not be brought to its present form: ${id}`, error);
    }
  }
}
