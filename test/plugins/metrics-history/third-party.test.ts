// A third party's store of the history: it is told of new samples, asked for its status, and read once it holds
// everything. The managed server tells plugins how to store data in it.
import t from 'tap';
import { startWithPlugins } from '../../support/own-plugins.ts';
import { until } from '../../support/until.ts';

const STORE = `
  const told = { written: 0, reads: 0 };
  const nothing = async () => ({ oldest: null, newest: null });
  let mark = null;
  host.contribute('metrics.history-store', 'postgresql', {
    holds: () => mark,
    written: () => { told.written += 1; },
    importing: () => { mark = null; },
    localAgeDays: () => 3,
    status: async () => ({ lastError: mark === null ? 'still copying' : null, lastSuccess: null, totals: null, sync: { state: 'reconciling', pendingSamples: 7, nextAttemptAt: null } }),
    bounds: nothing,
    lastOfBuckets: async () => { told.reads += 1; throw new Error('no more'); },
    ranges: async () => ({ ranges: null, isWhole: true }),
    newestOf: async () => { told.reads += 1; throw new Error('no more'); },
    page: async () => [],
  });
  const route = (path, handle) => host.route({ method: 'GET', path, summary: path, access: 'public', handle });
  route('/told', () => ({ ...told }));
  route('/mark', () => host.find('metrics.history').mark());
  route('/hold', async () => { mark = await host.find('metrics.history').mark(); return mark; });
  route('/server', () => ({ heldFor: host.find('postgres.server').heldFor() }));`;

t.test('a third party can contribute another store', async t => {
  const app = await startWithPlugins(
    t,
    { shelf: { setup: STORE, more: "needs: ['metrics-history'], after: ['service-postgres']," } },
    {
      shipped: ['config', 'metrics-history', 'service-postgres'],
      config: { dumb: { metrics: { history_interval_sec: 0.5, storage: { provider: 'postgresql' } } } },
    },
  );
  const told = async () => (await app.get('/told')).body;
  const storage = async () => (await app.get('/metrics/history/storage')).body;
  await until(async () => (await told()).written > 1, { what: 'the store to be told of samples' });
  t.match(await storage(), {
    configured_provider: 'postgresql',
    active_provider: 'sqlite',
    fallback_active: true,
    last_error: 'still copying',
  });
  t.ok((await app.get('/mark')).body.seq > 0, 'the number of the last change of the own file');
  t.equal((await told()).reads, 0, 'what does not hold everything is not read');
  await app.get('/hold');
  const { items } = (await app.get('/metrics/history')).body;
  t.ok(items.length > 0, 'a read that fails is answered from the own file');
  t.ok((await told()).reads > 0);
  t.match((await app.get('/server')).body, { heldFor: null });
});
