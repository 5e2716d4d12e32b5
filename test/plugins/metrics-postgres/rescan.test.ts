// Samples that PostgreSQL lacks are found after an import, and at the start of a host.
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import {
  activated,
  CHOSEN,
  directoryWith,
  isActive,
  line,
  query,
  startMetrics,
  storage,
  timesIn,
  YESTERDAY,
} from '../../support/metrics-postgres.ts';
import { postgresBlock } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';

t.test('missing samples are found by a rescan', async t => {
  const { app, block } = await activated(t, {});
  await query(block, `DELETE FROM metrics_snapshots WHERE timestamp < ${YESTERDAY + 600}`);
  const file = path.join(app.configDir, 'metrics', 'metrics-20260101-1.jsonl');
  await appendFile(
    file,
    Array.from({ length: 3_000 }, (_, index) => `${line(YESTERDAY + 6_400.5 + index)}\n`).join(''),
  );
  const importing = app.post('/metrics/history/migrate?force=true');
  await until(async () => (await storage(app)).active_provider === 'sqlite', {
    intervalMs: 1,
    what: 'SQLite to serve',
  });
  t.match((await importing).body, { completed: true, samples: 3_200 });
  await isActive(app);
  t.equal((await storage(app)).sqlite.samples, 3_200);
  const { own, there } = await timesIn(app, block);
  t.same(there, own);
});

t.test('missing samples are found at the start of a host', async t => {
  const block = await postgresBlock(t);
  const configDir = await directoryWith(t, [line(YESTERDAY), line(YESTERDAY + 5)]);
  const first = await startMetrics(t, { postgres: block, configDir, metrics: CHOSEN });
  await isActive(first);
  t.match((await first.get('/config')).body.postgres, { enabled: true });
  t.equal((await storage(first)).postgresql.samples, 2);
  await first.stop();
});
