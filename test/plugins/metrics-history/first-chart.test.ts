// The chart that is asked for first is made ready after a start, so that it needs nothing of the file any more.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import type { SqliteDatabase } from '../../../core/contract/database.ts';
import * as statements from '../../../plugins/metrics-history/history-statements.ts';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { until } from '../../support/until.ts';

const SAMPLES = 100;
const APART_S = 60;
/** The newest sample is so old, so that every part of the chart is over. */
const AGE_S = 3_600;

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

t.test('the first chart after a start', async t => {
  const configDir = testDir(t);
  const file = path.join(configDir, 'metrics', 'metrics.sqlite');
  await mkdir(path.dirname(file), { mode: 0o700 });
  fill(file);
  const metrics = { history_enabled: false };
  const app = await startHost({ plugins: ['metrics-history', 'config'], config: { dumb: { metrics } }, configDir });
  t.teardown(() => app.stop());
  const other = new Database(file, { timeout: 10_000 });
  t.teardown(() => other.close());
  // Whoever makes a chart keeps the extremes of its hours, too.
  await until(() => other.prepare('SELECT count(*) FROM metrics_rollups').pluck().get() !== 0);
  other.exec(`DELETE FROM metrics_blocks; UPDATE metrics_snapshots SET payload = x'', item = NULL`);
  const { body } = await app.get('/metrics/history_series');
  t.equal(body.items.length, SAMPLES, 'none of its samples is read again');
  t.same(body.stats.cpu, { min: 10, max: 10 });
});
