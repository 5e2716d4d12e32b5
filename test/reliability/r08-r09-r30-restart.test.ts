// R8, R9 and R30: a restart storm is slowed and stopped, only a start by hand forgives, and no clock has a say.
import fc from 'fast-check';
import t from 'tap';
import { RestartWindow } from '../../plugins/auto-restart/restart-policy.ts';
import { startHost } from '../support/host.ts';
import { kid, start, status, stop } from '../support/kids.ts';
import { until } from '../support/until.ts';

const limits = fc.record({
  maxRestarts: fc.integer({ min: 0, max: 6 }),
  windowMs: fc.integer({ min: 1, max: 100_000 }),
  backoffMs: fc.array(fc.integer({ min: 0, max: 50_000 }), { maxLength: 5 }),
});

t.test('R8: never more attempts in a window than allowed, and every delay is one of the list', async _t => {
  fc.assert(
    fc.property(limits, fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 60 }), (limit, pauses) => {
      const window = new RestartWindow();
      const attempts: number[] = [];
      let now = 0;
      for (const pause of pauses) {
        now += pause;
        const decision = window.decide(now, limit);
        if (decision.kind === 'suppressed') {
          const due = now + decision.delayMs;
          if (limit.maxRestarts > 0 && (!Number.isFinite(due) || due <= now - 1)) return false;
          continue;
        }
        if (decision.delayMs !== 0 && !limit.backoffMs.includes(decision.delayMs)) return false;
        window.record(now);
        attempts.push(now);
      }
      return attempts.every(
        at =>
          attempts.filter(other => other <= at && at - other < limit.windowMs).length <= Math.max(limit.maxRestarts, 0),
      );
    }),
  );
});

t.test('R8: the delay grows with each attempt and the last one stays', async t => {
  const window = new RestartWindow();
  const limit = { maxRestarts: 5, windowMs: 1_000_000, backoffMs: [5, 15, 45] };
  const delays: number[] = [];
  for (let attempt = 0; attempt < 5; attempt += 1) {
    delays.push(window.decide(attempt, limit).delayMs);
    window.record(attempt);
  }
  t.same(delays, [5, 15, 45, 45, 45]);
  t.match(window.decide(10, limit), { kind: 'suppressed', delayMs: 999_990 });
  window.clear();
  t.match(window.decide(10, limit), { kind: 'after', delayMs: 5 });
});

const crashing = (services: object[], more: object = {}) => ({
  dumb: {
    startup: { readiness_timeout_seconds: 0, stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 },
    auto_restart: {
      enabled: true,
      backoff_seconds: [0],
      max_restarts: 2,
      window_seconds: 600,
      healthcheck_interval: 0,
      services,
      ...more,
    },
  },
});

t.test('R8 and R9: a crashing service is restarted up to the limit, then left alone until a start by hand', async t => {
  const { dumb } = crashing([{ process_name: 'Crasher' }]);
  const app = await startHost({ config: { dumb, crasher: kid('Crasher', ['crash-after', '1500']) } });
  t.teardown(() => app.stop());
  await until(async () => (await app.get('/process/startup-status')).body.terminal);
  await start(app, 'Crasher');
  const limited = await until(async () => {
    const { status: state, restart } = await status(app, 'Crasher');
    return (
      state === 'stopped' &&
      restart.restart_attempts === 2 &&
      restart.recent_restart_attempts === 2 &&
      restart.pending &&
      restart
    );
  });
  t.ok(
    limited.next_restart_time > Date.now() / 1_000 + 60,
    'the next attempt waits until the oldest leaves the window',
  );
  t.equal(limited.exit_code, 4);
  // R9: a start by hand clears the window; the totals stay.
  t.equal((await start(app, 'Crasher')).status, 200);
  const { restart_attempts: all, recent_restart_attempts: recent } = (await status(app, 'Crasher')).restart;
  t.equal(recent, all - 2, 'those of before are no longer recent, also where it has ended once more meanwhile');
  await stop(app, 'Crasher');
  t.match(await status(app, 'Crasher'), { status: 'stopped', restart: { disabled: true, pending: false } });
});

t.test('a service that is not listed is not restarted', async t => {
  const { dumb } = crashing([]);
  const app = await startHost({ config: { dumb, crasher: kid('Crasher', ['crash-after', '1500']) } });
  t.teardown(() => app.stop());
  await start(app, 'Crasher');
  await until(async () => (await status(app, 'Crasher')).status === 'stopped');
  t.match((await status(app, 'Crasher')).restart, { restart_attempts: 0, pending: false, exit_code: 4 });
});

t.test('R30: a jump of the clock by a day in either direction changes no delay and no window', async t => {
  const realNow = Date.now;
  t.teardown(() => {
    Date.now = realNow;
  });
  const { dumb } = crashing([{ process_name: 'Crasher' }], { backoff_seconds: [1], max_restarts: 50 });
  const app = await startHost({ config: { dumb, crasher: kid('Crasher', ['crash-after', '1500']) } });
  t.teardown(() => app.stop());
  await until(async () => (await app.get('/process/startup-status')).body.terminal);
  await start(app, 'Crasher');
  for (const jumpMs of [86_400_000, -86_400_000]) {
    Date.now = () => realNow() + jumpMs;
    const before = (await status(app, 'Crasher')).restart.restart_attempts;
    const after = await until(async () => {
      const { restart } = await status(app, 'Crasher');
      return restart.restart_attempts > before && restart;
    });
    t.ok(after.recent_restart_attempts >= after.restart_attempts, 'no attempt left the window');
  }
});
