// The history moves to PostgreSQL on request: to a server that does not run, and to one that does.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { start } from '../../support/kids.ts';
import {
  ACTIVATION,
  choose,
  directoryWith,
  line,
  query,
  startMetrics,
  storage,
  timesIn,
} from '../../support/metrics-postgres.ts';
import { postgresBlock } from '../../support/postgres.ts';

const now = Math.floor(Date.now() / 1_000);

/** Samples at intervals of five seconds until now. */
const withSamples = (t: Test, samples: number): Promise<string> =>
  directoryWith(
    t,
    Array.from({ length: samples }, (_, index) => line(now - 5 * (samples - index), index % 100)),
  );

t.test('the server is started for the move, which can be repeated', async t => {
  const block = await postgresBlock(t);
  const configDir = await withSamples(t, 1_500);
  const app = await startMetrics(t, { postgres: block, configDir });
  const capabilities = async () => app.host.plugins().find(({ name }) => name === 'metrics-postgres')?.capabilities;
  t.same(await capabilities(), ['metrics_history_hot_activation']);
  const early = await app.post(ACTIVATION);
  t.equal(early.status, 400);
  t.match(early.body.detail, 'dumb.metrics.storage.provider');
  await app.post('/metrics/history/migrate');
  const chart = async (bucketSeconds: number) =>
    (await app.get(`/metrics/history_series?since=${now - 7_500}&bucket_seconds=${bucketSeconds}`)).body;
  const before = [await chart(60), await chart(100)];

  t.equal((await choose(app)).status, 200);
  const answers = await Promise.all([app.post(ACTIVATION), app.post(ACTIVATION)]);
  const [refused, done] = answers.sort((a, b) => b.status - a.status);
  t.equal(refused?.status, 409, 'two at once');
  t.match(refused?.body.detail, /already running/);
  t.equal(done?.status, 200, done?.text ?? '');
  t.match(done?.body, {
    status: 'active',
    provider: 'postgresql',
    database: 'dumb_metrics',
    postgres_enabled: true,
    postgres_running: true,
    postgres_started: true,
    postgres_reused: false,
    synced_samples: 1_500,
    active_provider: 'postgresql',
    fallback_active: false,
    postgresql: { database: 'dumb_metrics', schema: 'public', samples: 1_500 },
  });
  const saved = JSON.parse(await readFile(path.join(configDir, 'stackwarden.json'), 'utf8'));
  t.equal(saved.postgres.enabled, true);
  t.ok(saved.postgres.databases.some(({ name }: { name: string }) => name === 'dumb_metrics'));

  const { own, there } = await timesIn(app, block);
  t.same(there, own);
  const numbers = await storage(app);
  t.match(numbers, {
    active_provider: 'postgresql',
    fallback_active: false,
    last_error: null,
    sync: { state: 'idle', pending_samples: 0, next_attempt_at: null },
    postgresql: { samples: 1_500, oldest_timestamp: own[0], newest_timestamp: own.at(-1) },
  });
  t.equal(numbers.postgresql.raw_bytes, numbers.sqlite.raw_bytes);
  t.ok(numbers.postgresql.relation_bytes > 0 && numbers.last_postgresql_success > now);

  t.ok(before[0].items.length > 120);
  t.same(await chart(60), before[0], 'the same chart as from SQLite');
  await query(
    block,
    "UPDATE metrics_snapshots SET payload = 'torn' WHERE timestamp > (SELECT min(timestamp) FROM metrics_snapshots)",
  );
  t.same(await chart(100), before[1], 'which reads what charts need alone');
  // A difference between the stores shows which of them answers.
  await query(block, 'DELETE FROM metrics_snapshots WHERE timestamp > (SELECT min(timestamp) FROM metrics_snapshots)');
  const { items } = (await app.get('/metrics/history?full=true')).body;
  t.equal(items.length, 1);
  t.same(items[0], JSON.parse(line(own[0] ?? 0, 0)));

  const again = await app.post(ACTIVATION);
  t.match(again.body, { postgres_started: false, postgres_reused: true, synced_samples: 0 });
});

t.test('the history moves to a server that runs already', async t => {
  const block = await postgresBlock(t);
  const app = await startMetrics(t, { postgres: block, configDir: await withSamples(t, 10) });
  t.equal((await start(app, 'PostgreSQL')).status, 200);
  await app.post('/metrics/history/migrate');
  await choose(app);
  const { status: code, body } = await app.post(ACTIVATION);
  t.equal(code, 200);
  t.match(body, { postgres_started: false, postgres_reused: true, postgresql: { samples: 10 } });
});
