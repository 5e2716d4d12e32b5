// Services that end or do not start: how often and when they are restarted, and what a user or the configuration
// prevents.
import { chmod } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import {
  block,
  counters,
  healthServer,
  killService,
  NAME,
  policy,
  runWithAutoRestart as run,
  untilCounters,
} from '../../support/auto-restart.ts';
import { testDir } from '../../support/directory.ts';
import { kid, lives, notedPid, pidOf, restart, start, status, stop } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

t.test('every exit code is restarted, and the recovery is recognized without health restarts', async t => {
  let word = 'down';
  const { health, asked } = await healthServer(t, () => word);
  const { app, count } = await run(t, block({ health }), policy({ healthcheck_interval: 0 }));
  await start(app, NAME);
  const killed = await pidOf(app, NAME);
  await killService(app);
  const waiting = await untilCounters(app, ({ awaiting_recovery: awaiting }) => awaiting);
  t.match(waiting, { restart_attempts: 1, unhealthy_count: 0 });
  t.equal(count('stopped.unexpectedly'), 1);
  t.not(await pidOf(app, NAME), killed);
  const before = asked.times;
  await until(() => asked.times > before);
  await until(async () => (await status(app, NAME)).health_status === 'unhealthy');
  t.match(await counters(app), { awaiting_recovery: true, restart_successes: 0, restart_attempts: 1 });
  word = 'ok';
  await untilCounters(app, ({ restart_successes: successes }) => successes === 1);
  t.equal(count('unhealthy'), 0);
});

t.test('the list names a service as a request may', async t => {
  const { app } = await run(t, block(), policy({ services: [{ process_name: 'sERVICE', unhealthy_threshold: 7 }] }));
  await start(app, NAME);
  const killed = await pidOf(app, NAME);
  t.equal((await counters(app)).unhealthy_threshold, 7);
  await killService(app);
  await untilCounters(app, ({ restart_successes: successes }) => successes === 1);
  t.not(await pidOf(app, NAME), killed);
});

t.test('an exit before the recovery is a failure', async t => {
  const { health } = await healthServer(t, () => 'starting');
  const { app, count } = await run(t, block({ health }), policy({ backoff_seconds: [0, 600] }));
  await start(app, NAME);
  await killService(app);
  await untilCounters(app, ({ awaiting_recovery: awaiting }) => awaiting);
  await killService(app);
  const failed = await untilCounters(app, ({ restart_failures: failures }) => failures === 1);
  t.match(failed, {
    restart_attempts: 1,
    restart_successes: 0,
    awaiting_recovery: false,
    pending: true,
    last_failure_reason: 'Killed by signal SIGKILL (possibly out of memory)',
    exit_code: null,
    exit_signal: 'SIGKILL',
    last_exit_time: Number,
  });
  t.equal(count('auto_restart.failed'), 1);
  await start(app, NAME);
  t.match(await counters(app), { restart_failures: 1, last_failure_reason: null }, 'a start by hand begins anew');
});

t.test('an unhealthy state before the recovery is a failure', async t => {
  let word = 'starting';
  const { health } = await healthServer(t, () => word);
  const { app, count } = await run(t, block({ health }), policy({ backoff_seconds: [0, 600] }));
  await start(app, NAME);
  await killService(app);
  await untilCounters(app, ({ awaiting_recovery: awaiting }) => awaiting);
  word = 'down';
  const failed = await untilCounters(app, ({ restart_failures: failures }) => failures === 1);
  t.match(failed, { restart_successes: 0, awaiting_recovery: false, pending: true, last_failure_reason: String });
  word = 'ok';
  await untilCounters(app, ({ pending }) => !pending);
  t.match(await counters(app), { restart_failures: 1, last_failure_reason: null }, 'what is well has no failure');
  t.equal(count('auto_restart.failed'), 1);
});

t.test('a service that failed at boot is tried again; a failed attempt counts and the next is planned', async t => {
  const { app, count } = await run(
    t,
    block({ enabled: true, command: ['sh', '-c', 'echo ERROR no luck; exit 3'] }),
    policy({ backoff_seconds: [0, 600] }),
    1,
  );
  const failed = await untilCounters(app, ({ restart_failures: failures }) => failures === 1);
  t.match(failed, {
    restart_attempts: 1,
    pending: true,
    recent_restart_attempts: 1,
    exit_code: 3,
    last_failure_reason: /failed to stay running \(exit code 3\): ERROR no luck/,
    last_exit_reason: 'Exited with code 3',
    readiness_state: 'unhealthy',
  });
  t.ok(failed.next_restart_time > Date.now() / 1_000 + 300);
  t.match(await status(app, NAME), { status: 'stopped', health_status: 'unhealthy' });
  t.equal(count('auto_restart.attempt'), 1);
  t.equal(count('auto_restart.failed'), 1);
  t.equal(count('auto_restart.succeeded'), 0);
});

t.test('without a delay a restart does not wait for the timer, even after a failure', async t => {
  const { health } = await healthServer(t, () => 'ok');
  // At this pace the timer would run only after minutes.
  const { app, count } = await run(t, block({ health }), policy({ max_restarts: 3 }), 100);
  await start(app, NAME);
  await app.post('/config', { process_name: NAME, updates: { command: ['/nowhere/program'] } });
  await killService(app);
  await until(() => count('auto_restart.suppressed') === 1);
  t.equal(count('auto_restart.attempt'), 3);
});

t.test('the limit is reported once per episode, and the window opens again by itself', async t => {
  const { count } = await run(
    t,
    block({ enabled: true, command: ['/nowhere/program'] }),
    policy({ max_restarts: 1, window_seconds: 1 }),
  );
  await until(() => count('auto_restart.attempt') >= 4);
  t.equal(count('auto_restart.suppressed'), 1);
  t.equal(count('auto_restart.succeeded'), 0);
});

t.test('a stop by hand cancels a pending restart, a start by hand resets the count', async t => {
  const { app, count } = await run(t, block(), policy({ backoff_seconds: [600] }));
  await start(app, NAME);
  await killService(app);
  await untilCounters(app, ({ pending }) => pending);
  t.match((await stop(app, NAME)).body, { status: 'Service was not running' });
  t.match(await counters(app), { pending: false, next_restart_time: null, disabled: true });
  t.match(await start(app, NAME), { status: 200 });
  t.match(await counters(app), { pending: false, disabled: false, recent_restart_attempts: 0 });
  await killService(app);
  await untilCounters(app, ({ pending }) => pending);
  t.match(await restart(app, NAME), { status: 200 });
  // A check between the stop and the start may take the process for one that ended, until the next check.
  await untilCounters(app, ({ pending, disabled }) => !pending && !disabled);
  t.equal(count('auto_restart.attempt'), 0);
});

t.test('a restart by hand while remains of a crash are ended leaves no restart pending', async t => {
  const { health } = await healthServer(t, () => 'starting');
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const file = path.join(dir, 'child');
  const { command } = kid(NAME, ['stubborn-child', file]);
  const service = block({ health, command, stop_grace_seconds: 3 });
  const { app, count } = await run(t, service, policy({ healthcheck_interval: 0, backoff_seconds: [600] }));
  await start(app, NAME);
  const child = await notedPid(file);
  const leader = await pidOf(app, NAME);
  await killService(app);
  await until(() => !lives(leader), { what: 'the end of the leader' });
  t.ok(lives(child));
  t.match(await restart(app, NAME), { status: 200 });
  t.match(await counters(app), { pending: false, restart_attempts: 0 });
  t.equal(count('stopped.unexpectedly'), 0);
});

t.test('a service that a user stopped stays stopped when its window opens again', async t => {
  const services = [NAME, 'Other'].map(name => ({ process_name: name }));
  const { app, count, countOf } = await run(
    t,
    block(),
    policy({ services, max_restarts: 1, window_seconds: 1 }),
    undefined,
    { other: block({ process_name: 'Other', command: ['/nowhere/program'], enabled: true }) },
  );
  await start(app, NAME);
  await app.post('/config', { process_name: NAME, updates: { command: ['/nowhere/program'] } });
  await killService(app);
  await until(() => count('auto_restart.suppressed') === 1);
  await stop(app, NAME);
  const before = { own: count('auto_restart.attempt'), other: countOf('auto_restart.attempt', 'Other') };
  await until(() => countOf('auto_restart.attempt', 'Other') >= before.other + 3, { what: 'the window to open' });
  t.equal(count('auto_restart.attempt'), before.own);
  t.match(await counters(app), { pending: false, disabled: true });
});

t.test('a stop by hand during an attempt ends it without a failure', async t => {
  const missing = path.join(testDir(t, {}), 'missing');
  const { app, count } = await run(t, block(), policy());
  await start(app, NAME);
  await app.post('/config', { process_name: NAME, updates: { wait_for_dir: missing } });
  await killService(app);
  await until(async () => (await status(app, NAME)).health_reason?.includes(missing));
  t.equal(count('auto_restart.attempt'), 1);
  t.match((await stop(app, NAME)).body, { status: 'Service stopped successfully' });
  t.match(await counters(app), { pending: false, disabled: true, awaiting_recovery: false, restart_failures: 0 });
  t.equal(count('auto_restart.failed'), 0);
});

t.test('changes of the configuration act at once: taken off the list, put on it again', async t => {
  const { app, count } = await run(t, block(), policy({ backoff_seconds: [600] }));
  const change = (autoRestart: object) =>
    app.post('/config', { updates: { dumb: { auto_restart: autoRestart } }, persist: false });
  await start(app, NAME);
  await killService(app);
  await untilCounters(app, ({ pending }) => pending);
  t.match(await change({ services: [] }), { status: 200 });
  await untilCounters(app, ({ pending }) => !pending);
  t.match(await change({ services: [{ process_name: NAME, enabled: false }] }), { status: 200 });
  t.match(await change({ enabled: false, services: [{ process_name: NAME }] }), { status: 200 });
  t.equal(count('auto_restart.attempt'), 0);
  t.match(
    await change({
      enabled: true,
      services: [{ process_name: NAME, backoff_seconds: [0], unhealthy_threshold: 7 }],
    }),
    { status: 200 },
  );
  await until(async () => (await status(app, NAME)).status === 'running');
  t.match(await counters(app), { restart_attempts: 1, unhealthy_threshold: 7 }, 'its own keys come first');
});

t.test('a limit that is raised counts for a service that is down', async t => {
  const { app, count } = await run(t, block(), policy({ max_restarts: 0 }));
  await start(app, NAME);
  await killService(app);
  await until(() => count('auto_restart.suppressed') === 1);
  const change = { updates: { dumb: { auto_restart: policy({ max_restarts: 1 }) } }, persist: false };
  t.match(await app.post('/config', change), { status: 200 });
  await until(async () => (await status(app, NAME)).status === 'running');
  t.match(await counters(app), { restart_attempts: 1 });
});
