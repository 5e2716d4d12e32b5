// A server that hangs: requests that wait for it are answered from SQLite.
import t from 'tap';
import { pidOf } from '../../support/kids.ts';
import { activated, agree, query, storage } from '../../support/metrics-postgres.ts';
import { until } from '../../support/until.ts';

t.test('requests are answered from SQLite while the server hangs', async t => {
  const { app, block } = await activated(t, {});
  const pid = await pidOf(app, 'PostgreSQL');
  const pids = [pid, ...(await query(block, 'SELECT pid FROM pg_stat_activity')).map(row => row.pid as number)];
  const send = (signal: NodeJS.Signals) => {
    for (const one of pids) {
      try {
        process.kill(one, signal);
      } catch {
        // The process has ended.
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
