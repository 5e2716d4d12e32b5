// A history with too many samples to count in time is used nevertheless, with the stored totals.
import pg from 'pg';
import t from 'tap';
import { activated, choose, isActive, query, storage } from '../../support/metrics-postgres.ts';

t.test('a slow count does not prevent the use of the history', async t => {
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
  // A writer of the totals waits for this transaction.
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
