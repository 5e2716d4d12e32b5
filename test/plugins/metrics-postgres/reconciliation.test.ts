// A server that dies, hangs or misses samples: every answer comes from somewhere, and in the end nothing is missing or there
// twice.
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import type { TestHost } from '../../support/host.ts';
import { pidOf, start } from '../../support/kids.ts';
import {
  ACTIVATION,
  type Block,
  CHOSEN,
  directoryWith,
  isActive,
  line,
  query,
  startMetrics,
  storage,
  timesIn,
  writeLines,
} from '../../support/metrics-postgres.ts';
import { postgresBlock } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';

const now = Math.floor(Date.now() / 1_000);

async function active(t: Test, metrics: Record<string, unknown>): Promise<{ app: TestHost; block: Block }> {
  const block = await postgresBlock(t);
  const configDir = await directoryWith(
    t,
    Array.from({ length: 200 }, (_, index) => line(now - 86_400 + index * 60)),
  );
  const app = await startMetrics(t, { postgres: block, configDir, metrics: { ...metrics, ...CHOSEN } });
  const { status, text } = await app.post(ACTIVATION);
  t.equal(status, 200, text);
  return { app, block };
}

/** Both stores hold the same, in order, and each sample once. */
async function agree(t: Test, app: TestHost, block: Block): Promise<void> {
  await until(async () => {
    const times = await timesIn(app, block);
    return times.own.length === times.there.length;
  });
  const { own, there } = await timesIn(app, block);
  t.same(there, own);
  const { items } = (await app.get('/metrics/history?full=true&limit=0')).body;
  const told = items.map(({ timestamp }: { timestamp: number }) => timestamp);
  t.same(
    told,
    [...new Set<number>(told)].sort((a, b) => a - b),
    'in order, and none twice',
  );
  t.same(told.slice(0, own.length), own, 'all of them are told');
  const { postgresql } = await storage(app);
  const [counted] = await query(
    block,
    'SELECT count(*)::int AS samples, sum(raw_size)::float8 AS raw_bytes FROM metrics_snapshots',
  );
  t.match(postgresql, counted, 'the totals are right');
}

t.test('killed while samples are written, and brought back', async t => {
  const { app, block } = await active(t, { history_enabled: true, history_interval_sec: 0.5 });
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
  // Older than anything that PostgreSQL holds, and written while it is away.
  await writeLines(app.configDir, 'metrics-20260102-1.jsonl', [line(now - 200_000), line(now - 199_990)]);
  t.match((await app.post('/metrics/history/migrate?force=true')).body, { completed: true, samples: 202 });
  const { samples } = (await storage(app)).sqlite;
  await until(async () => (await start(app, 'PostgreSQL')).status === 200);
  await until(async () => (await storage(app, true)).active_provider === 'postgresql');
  const { postgresql, last_error, fallback_active } = await storage(app);
  t.ok(postgresql.samples >= samples, 'it is read from again when everything is there');
  t.equal(postgresql.oldest_timestamp, now - 200_000);
  t.match({ last_error, fallback_active }, { last_error: null, fallback_active: false });
  await app.post('/config', { updates: { dumb: { metrics: { history_enabled: false } } } });
  await agree(t, app, block);
});

t.test('a server that hangs', async t => {
  const { app, block } = await active(t, {});
  const pid = await pidOf(app, 'PostgreSQL');
  const pids = [pid, ...(await query(block, 'SELECT pid FROM pg_stat_activity')).map(row => row.pid as number)];
  const send = (signal: NodeJS.Signals) => {
    for (const one of pids) {
      try {
        process.kill(one, signal);
      } catch {
        // It ended.
      }
    }
  };
  t.teardown(() => send('SIGCONT'));
  send('SIGSTOP');
  const answers = await Promise.all([
    app.get('/metrics/history?full=true'),
    app.get('/metrics/history_series?since=0&max_points=600'),
  ]);
  t.same(
    answers.map(({ status }) => status),
    [200, 200],
  );
  t.equal(answers[0]?.body.items.length, 200);
  t.match(await storage(app), { fallback_active: true, last_error: 'PostgreSQL does not answer' });
  send('SIGCONT');
  await until(async () => (await storage(app, true)).active_provider === 'postgresql');
  await agree(t, app, block);
});

t.test('what is missing there is found, and a rescan counts as such', async t => {
  const { app, block } = await active(t, {});
  await query(block, `DELETE FROM metrics_snapshots WHERE timestamp < ${now - 86_400 + 600}`);
  const file = path.join(app.configDir, 'metrics', 'metrics-20260101-1.jsonl');
  await appendFile(file, Array.from({ length: 3_000 }, (_, index) => `${line(now - 80_000.5 + index)}\n`).join(''));
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

t.test('at the start of a host', async t => {
  const block = await postgresBlock(t);
  const configDir = await directoryWith(t, [line(now - 100), line(now - 95)]);
  const first = await startMetrics(t, { postgres: block, configDir, metrics: CHOSEN });
  await isActive(first);
  t.match((await first.get('/config')).body.postgres, { enabled: true });
  t.equal((await storage(first)).postgresql.samples, 2);
  await first.stop();
});
