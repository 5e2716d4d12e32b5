// Old samples are removed from PostgreSQL; the own file may remove samples earlier, and does not get them back.
import t from 'tap';
import {
  ACTIVATION,
  CHOSEN,
  choose,
  directoryWith,
  isActive,
  line,
  query,
  startMetrics,
  storage,
} from '../../support/metrics-postgres.ts';
import { postgresBlock } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';

const HOUR_S = 3_600;
const now = Math.floor(Date.now() / 1_000);
const samples = (hoursAgo: number, count: number) =>
  Array.from({ length: count }, (_, index) => line(now - hoursAgo * HOUR_S + index * 5));

t.test('each store removes its samples by its own age limit', async t => {
  const block = await postgresBlock(t);
  const app = await startMetrics(t, {
    postgres: block,
    configDir: await directoryWith(t, [...samples(6.5 * 24, 10), ...samples(3 * 24, 20), ...samples(12, 30)]),
    metrics: { storage: { ...CHOSEN.storage, postgresql: { local_retention_days: 1 } } },
  });
  t.match((await app.post(ACTIVATION)).body, { postgresql: { samples: 60 } });

  await app.post('/config', { updates: { dumb: { metrics: { history_retention_days: 6 } } } });
  await until(async () => (await storage(app)).sqlite.samples === 30, { what: 'the own file to keep a day' });
  const told = async () => (await app.get('/metrics/history?full=true')).body.items.length;
  t.equal(await told(), 60, 'PostgreSQL tells the others');

  await choose(app, 'sqlite');
  t.equal(await told(), 30);
  await choose(app);
  await isActive(app);
  await until(async () => (await storage(app)).postgresql?.samples === 50, { what: 'PostgreSQL to keep six days' });
  for (const table of ['metrics_snapshots', 'metrics_points'])
    t.same(await query(block, `SELECT count(*)::int AS rows FROM ${table}`), [{ rows: 50 }], table);
  t.equal(await told(), 50);
  t.equal((await storage(app)).sqlite.samples, 30, 'what left the own file on purpose does not come back');
});
