// The chart that is requested first is prepared after a start, so that the request does not read the file.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import type { SqliteDatabase } from '../../../core/contract/database.ts';
import * as statements from '../../../plugins/metrics-history/history-statements.ts';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { until } from '../../support/until.ts';

const SAMPLES = 100;
const APART_S = 60;
/** The newest sample is so old that no part of the chart is still growing. */
const AGE_S = 3_600;
const ROUNDS = 20;

function fill(file: string): void {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  for (const migration of statements.migrations) if (typeof migration === 'string') db.exec(migration);
  db.pragma(`user_version = ${statements.migrations.length}`);
  const newest = Math.floor(Date.now() / 1_000) - AGE_S;
  const texts = Array.from({ length: SAMPLES }, (_, index) => {
    const system = { cpu_percent: 10, filesystems: [], disk_io: null, net_io: {}, network_interfaces: [] };
    const timestamp = newest - (SAMPLES - 1 - index) * APART_S;
    return JSON.stringify({ timestamp, system, dumb_managed: [], external: [] });
  });
  statements.write(db as unknown as SqliteDatabase, texts);
  db.close();
}

async function filled(t: Test): Promise<{ configDir: string; file: string }> {
  const configDir = testDir(t);
  const file = path.join(configDir, 'metrics', 'metrics.sqlite');
  await mkdir(path.dirname(file), { mode: 0o700 });
  fill(file);
  return { configDir, file };
}

t.test('the first chart is prepared after a start', async t => {
  const { configDir, file } = await filled(t);
  const metrics = { history_enabled: false };
  const app = await startHost({ plugins: ['metrics-history', 'config'], config: { dumb: { metrics } }, configDir });
  t.teardown(() => app.stop());
  const other = new Database(file, { timeout: 10_000 });
  t.teardown(() => other.close());
  // The preparation of a chart also stores the extremes of its hours.
  await until(() => other.prepare('SELECT count(*) FROM metrics_rollups').pluck().get() !== 0);
  t.equal((await app.get('/metrics/history_series')).body.items.length, SAMPLES);
});

t.test('a request for the prepared chart reads no samples', async t => {
  const { file } = await filled(t);
  const db = new Database(file);
  t.teardown(() => db.close());
  const now = Date.now() / 1_000;
  // Each round ends after a while, however little it could do; the next one continues.
  for (let round = 0; round < ROUNDS; round += 1) statements.rehearseChart(db as unknown as SqliteDatabase, { now });
  db.exec(`DELETE FROM metrics_blocks; UPDATE metrics_snapshots SET payload = x'', item = NULL`);
  // As a request of the route, a moment after the time of the preparation.
  const request = { since: now - 6 * 3_600, now: now + 0.1, bucketSeconds: null, maxPoints: 600 };
  const chart = JSON.parse(String(gunzipSync(statements.chart(db as unknown as SqliteDatabase, request))));
  t.equal(chart.items.length, SAMPLES);
  t.same(chart.stats.cpu, { min: 10, max: 10 });
});
