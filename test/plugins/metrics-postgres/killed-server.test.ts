// A server that is killed while samples are written: no read fails, and in the end no sample is missing or doubled.
import t from 'tap';
import { pidOf, start } from '../../support/kids.ts';
import { activated, agree, line, storage, writeLines, YESTERDAY } from '../../support/metrics-postgres.ts';
import { until } from '../../support/until.ts';

/** Before all samples in PostgreSQL. */
const OLD = YESTERDAY - 100_000;

t.test('no sample is lost or doubled when the server is killed and returns', async t => {
  const { app, block } = await activated(t, { history_enabled: true, history_interval_sec: 0.5 });
  const pid = await pidOf(app, 'PostgreSQL');
  await until(async () => (await storage(app)).sqlite.samples > 203);
  process.kill(pid, 'SIGKILL');
  const statuses = new Set<number>();
  await until(async () => {
    for (const route of ['/metrics/history?full=true', '/metrics/history_series?since=0'])
      statuses.add((await app.get(route)).status);
    return (await storage(app)).fallback_active;
  });
  t.same([...statuses], [200], 'no read fails');
  t.match(await storage(app), { active_provider: 'sqlite', sync: { state: 'backoff' }, last_error: String });
  // Older than all samples in PostgreSQL, and written while the server is away.
  await writeLines(app.configDir, 'metrics-20260102-1.jsonl', [line(OLD), line(OLD + 10)]);
  t.match((await app.post('/metrics/history/migrate?force=true')).body, { completed: true, samples: 202 });
  const { samples } = (await storage(app)).sqlite;
  await until(async () => (await start(app, 'PostgreSQL')).status === 200);
  await until(async () => (await storage(app, true)).active_provider === 'postgresql');
  const { postgresql, last_error, fallback_active } = await storage(app);
  t.ok(postgresql.samples >= samples, 'it is read from again when everything is there');
  t.equal(postgresql.oldest_timestamp, OLD);
  t.match({ last_error, fallback_active }, { last_error: null, fallback_active: false });
  await app.post('/config', { updates: { dumb: { metrics: { history_enabled: false } } } });
  await agree(t, app, block);
});
