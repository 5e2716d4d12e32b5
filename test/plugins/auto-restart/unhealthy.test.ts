// Unhealthy services: what counts as unhealthy, when they are restarted, and what proves that they have recovered.
import t from 'tap';
import {
  block,
  counters,
  healthServer,
  NAME,
  policy,
  runWithAutoRestart as run,
  untilCounters,
} from '../../support/auto-restart.ts';
import { pidOf, start, status } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

t.test('a service at the threshold is restarted, and recovered once it is healthy', async t => {
  let afterwards = 'starting';
  const { health, asked } = await healthServer(t, () => (counted('auto_restart.attempt') === 0 ? 'down' : afterwards));
  const { app, events, count: counted } = await run(t, block({ health }), policy());
  t.equal((await start(app, NAME)).status, 200);
  const first = await pidOf(app, NAME);
  await until(() => counted('auto_restart.attempt') === 1);
  t.equal(counted('unhealthy'), 1);
  t.match(
    events.find(({ type }) => type === 'service.unhealthy'),
    { plugin: 'auto-restart', data: { processName: NAME, threshold: 2 } },
  );
  const waiting = await untilCounters(app, ({ awaiting_recovery: awaiting }) => awaiting);
  t.match(waiting, { restart_attempts: 1, restart_successes: 0, last_restart_time: null, unhealthy_threshold: 2 });
  const before = asked.times;
  await until(() => asked.times > before);
  t.match(await status(app, NAME), {
    health_status: 'starting',
    restart: { awaiting_recovery: true, restart_successes: 0, unhealthy_count: 0, readiness_state: 'starting' },
  });
  t.not(await pidOf(app, NAME), first);
  afterwards = 'degraded';
  await until(async () => (await status(app, NAME)).health_status === 'degraded');
  t.equal((await counters(app)).awaiting_recovery, true, 'degraded is not recovered yet');
  afterwards = 'ok';
  const recovered = await untilCounters(app, ({ restart_successes: successes }) => successes === 1);
  t.match(recovered, {
    restart_attempts: 1,
    restart_failures: 0,
    recent_restart_attempts: 1,
    pending: false,
    next_restart_time: null,
    disabled: false,
    last_restart_time: Number,
    awaiting_recovery: false,
    readiness_state: 'ready',
    ready_at: Number,
  });
  t.equal(counted('auto_restart.succeeded'), 1);
  t.equal(counted('auto_restart.failed'), 0);
});

t.test('degraded resets the count, starting leaves it alone', async t => {
  let word = 'down';
  const { health, asked } = await healthServer(t, () => word);
  const { app, count } = await run(t, block({ health }), policy({ unhealthy_threshold: 100_000 }));
  await start(app, NAME);
  await untilCounters(app, ({ unhealthy_count: unhealthy }) => unhealthy >= 2);
  word = 'starting';
  await until(async () => (await status(app, NAME)).health_status === 'starting');
  const { unhealthy_count: kept } = await counters(app);
  t.ok(kept >= 2);
  const before = asked.times;
  await until(() => asked.times > before);
  t.equal((await counters(app)).unhealthy_count, kept);
  word = 'warn';
  await untilCounters(app, ({ unhealthy_count: unhealthy }) => unhealthy === 0);
  t.equal(count('unhealthy'), 0);
});

t.test('at the limit an unhealthy service is left running, which is logged once', async t => {
  const { health, asked } = await healthServer(t, () => 'down');
  const { app, count } = await run(t, block({ health }), policy({ max_restarts: 0 }));
  await start(app, NAME);
  const pid = await pidOf(app, NAME);
  await until(() => count('auto_restart.suppressed') === 1);
  const before = asked.times;
  await until(() => asked.times > before);
  t.equal(count('auto_restart.suppressed'), 1);
  t.equal(await pidOf(app, NAME), pid);
  t.match(await counters(app), { restart_attempts: 0, pending: false, next_restart_time: null });
});

t.test('a pending restart of a service that is healthy again is dropped', async t => {
  let word = 'down';
  const { health } = await healthServer(t, () => word);
  const { app, count } = await run(t, block({ health }), policy({ backoff_seconds: [600] }));
  await start(app, NAME);
  const pending = await untilCounters(app, ({ pending: planned }) => planned);
  t.ok(pending.next_restart_time > Date.now() / 1_000 + 300);
  t.equal(pending.next_restart_time, Number(pending.next_restart_time.toFixed(1)), 'the same at each look');
  word = 'ok';
  await untilCounters(app, ({ pending: planned }) => !planned);
  t.equal(count('auto_restart.attempt'), 0);
});
