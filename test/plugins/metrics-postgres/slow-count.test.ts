// A history whose samples cannot be counted in time, as that of years, is used all the same, with the totals that are
// kept.
import pg from 'pg';
import t from 'tap';
import { activated, choose, isActive, query, storage } from '../../support/metrics-postgres.ts';

t.test('a count that takes too long', async t => {
  const { app, block } = await activated(t, {});
  const { raw_bytes: rawBytes } = (await storage(app)).postgresql;
  await choose(app, 'sqlite');
  await query(block, "UPDATE metrics_metadata SET value = '201' WHERE key = 'samples'");
  const holder = new pg.Client({
    host: '127.0.0.1',
    port: Number(block.port),
    user: 'keeper',
    database: 'dumb_metrics',
  });
  await holder.connect();
  t.teardown(() => holder.end());
  // Whoever writes what was counted waits for this.
  await holder.query('BEGIN');
  await holder.query("UPDATE metrics_metadata SET value = value WHERE key = 'samples'");
  await choose(app);
  await isActive(app);
  t.match((await storage(app)).postgresql, { samples: 201, raw_bytes: rawBytes });
  await holder.query('ROLLBACK');
  await choose(app, 'sqlite');
  await choose(app);
  await isActive(app);
  t.match((await storage(app)).postgresql, { samples: 200 }, 'what others changed is counted when there is time');
});
