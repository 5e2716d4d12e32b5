// The history of metrics in PostgreSQL. Every sample is written to SQLite first, which answers while PostgreSQL cannot.
import { definePlugin } from '#core';
import type {} from '../metrics-history/contract.ts';
import type {} from '../process/contract.ts';
import type {} from '../service-postgres/contract.ts';
import { HotActivation } from './activation.ts';
import { sentenceOf } from './fault.ts';
import { postgresSection } from './settings.ts';
import { PostgresStore } from './store.ts';
import { activationSchema, activationToWire } from './wire.ts';

const PROVIDER = 'postgresql';
const SERVER = 'postgres';
const CONCERNED = ['dumb.metrics.storage', SERVER];

export default definePlugin({
  name: 'metrics-postgres',
  host: '^1',
  needs: ['metrics-history', 'service-postgres', 'process'],
  after: ['config-migrations'],

  async setup(host) {
    host.contribute('config.schema', PROVIDER, {
      path: ['dumb', 'metrics', 'storage', PROVIDER],
      schema: postgresSection,
    });
    const { totals } = host.use('metrics.history');
    const store = new PostgresStore(host);
    const activation = new HotActivation(host, store);
    host.contribute('metrics.history-store', PROVIDER, store);
    host.route({
      method: 'POST',
      path: '/metrics/history/storage/activate-postgresql',
      summary: 'Starts the managed PostgreSQL where it does not run, and moves the history there while everything runs',
      capability: 'metrics_history_hot_activation',
      response: activationSchema(totals),
      // Goes on when the client disconnects.
      handle: async () => activationToWire(await activation.activate(), totals),
    });
    host.tap('host.ready', () => store.follow());
    host.tap('config.changed', ({ paths }) => {
      if (paths.some(changed => CONCERNED.some(part => changed === part || changed.startsWith(`${part}.`))))
        store.follow();
    });
    host.tap('process.started', ({ configKey }) => {
      if (configKey === SERVER) void store.followServer();
    });
    // Registered during the set-up, so that the boot starts the server and creates its database.
    if (store.settings.isChosen)
      await host
        .use('postgres.server')
        .register(store.settings.database)
        .catch((error: unknown) => host.log.warn(`PostgreSQL could not be enabled: ${sentenceOf(error)}`));
    return () => store.close();
  },
});
