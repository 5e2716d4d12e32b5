// The file of an earlier program, whose samples have no change number, moves to PostgreSQL as a whole.
import path from 'node:path';
import { deflateSync } from 'node:zlib';
import Database from 'better-sqlite3';
import t from 'tap';
import {
  ACTIVATION,
  choose,
  directoryWith,
  line,
  query,
  startMetrics,
  storage,
  timesIn,
  YESTERDAY,
} from '../../support/metrics-postgres.ts';
import { postgresBlock } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';

t.test('all samples of an earlier program move', async t => {
  const configDir = await directoryWith(t, [line(YESTERDAY)]);
  const file = new Database(path.join(configDir, 'metrics', 'metrics.sqlite'));
  file.exec(`CREATE TABLE metrics_snapshots (timestamp REAL PRIMARY KEY, payload BLOB NOT NULL,
    raw_size INTEGER NOT NULL, stored_size INTEGER NOT NULL, created_at REAL NOT NULL)`);
  const insert = file.prepare('INSERT INTO metrics_snapshots VALUES (?, ?, ?, ?, ?)');
  for (let index = 1; index < 50; index += 1) {
    const text = line(YESTERDAY + index * 300);
    const payload = deflateSync(text);
    insert.run(YESTERDAY + index * 300, payload, text.length, payload.length, YESTERDAY);
  }
  file.close();
  const block = await postgresBlock(t);
  const app = await startMetrics(t, { postgres: block, configDir });
  await until(async () => (await storage(app)).sqlite.samples === 50);
  await choose(app);
  t.match((await app.post(ACTIVATION)).body, { synced_samples: 50, postgresql: { samples: 50 } });
  const { own, there } = await timesIn(app, block);
  t.same(there, own);
  const [points] = await query(block, 'SELECT count(*)::int AS points, max(cpu) AS cpu FROM metrics_points');
  t.same(points, { points: 50, cpu: 5 });
});
