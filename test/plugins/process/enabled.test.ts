// `enabled` in the configuration file while the host runs: what it enables is started, what it disables is stopped, and
// a start or stop by hand stays until the key itself changes. `autostart: false` leaves a start to a user.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { pluginsDir, startHost } from '../../support/host.ts';
import { pidOf, start, status, stop } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { until } from '../../support/until.ts';

const skip = !['health', 'auto-restart'].every(name => existsSync(path.join(pluginsDir, name, 'index.ts')));
const sleeper = (processName: string, more: object = {}) => ({
  process_name: processName,
  command: ['sleep', '600'],
  suppress_logging: true,
  stop_grace_seconds: 1,
  ...more,
});

t.test('a service that the file enables runs, also if a user had stopped it before', async t => {
  const app = await startHost({
    plugins: ['config', 'process'],
    config: { hand: sleeper('Hand', { enabled: false }) },
  });
  t.teardown(() => app.stop());
  const file = path.join(app.configDir, 'stackwarden.json');
  await start(app, 'Hand');
  await stop(app, 'Hand');
  t.match(await status(app, 'Hand'), { status: 'stopped', restart: { disabled: true } });
  const root = JSON.parse(await readFile(file, 'utf8'));
  root.hand.enabled = true;
  await writeFile(file, JSON.stringify(root));
  await until(async () => (await status(app, 'Hand')).status === 'running');
  t.match(await status(app, 'Hand'), { restart: { disabled: false } });
});

t.test('a service that is enabled later does not change the duration of the boot', async t => {
  const startup = { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 };
  const config = { dumb: { startup }, one: sleeper('One', { enabled: true }), two: sleeper('Two', { enabled: false }) };
  const app = await startHost({ plugins: ['config', 'process'], config });
  t.teardown(() => app.stop());
  const report = async () => (await app.get('/process/startup-status')).body;
  await until(async () => (await report()).terminal);
  const { critical_chain } = await report();
  t.match(critical_chain, [{ process_name: 'One' }]);
  const root = JSON.parse(await readFile(app.host.configFile, 'utf8'));
  root.two.enabled = true;
  await writeFile(app.host.configFile, JSON.stringify(root));
  await until(async () => (await status(app, 'Two')).status === 'running');
  t.same((await report()).critical_chain, critical_chain);
});

t.test('the file decides when its key changes, the user otherwise', { skip }, async t => {
  const app = await startHost({
    plugins: ['config', 'process', 'auto-restart', 'health'],
    config: {
      dumb: {
        startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 },
        auto_restart: {
          enabled: true,
          max_restarts: 9,
          backoff_seconds: [0],
          services: [{ process_name: 'Broken' }],
        },
      },
      on: sleeper('On', { enabled: true }),
      off: sleeper('Off', { enabled: false }),
      hand: sleeper('Hand', { enabled: false }),
      broken: sleeper('Broken', { enabled: true, command: ['/nowhere/program'] }),
      manual: sleeper('Manual', { enabled: true, autostart: false }),
    },
  });
  t.teardown(() => app.stop());
  const file = path.join(app.configDir, 'stackwarden.json');
  const edit = async (change: (root: Record<string, Record<string, unknown>>) => void) => {
    const root = JSON.parse(await readFile(file, 'utf8'));
    change(root);
    await writeFile(file, JSON.stringify(root, null, 4));
  };
  const is = async (name: string, state: string) => (await status(app, name)).status === state;
  const becomes = (name: string, state: string) => until(() => is(name, state), { what: `${name} to be ${state}` });
  const phase = async () => (await app.get('/process/startup-status')).body;
  const logged = (line: string) =>
    until(async () => (await ownLog(app)).some(one => one.includes(line)), { what: line });

  await until(async () => (await phase()).terminal);
  t.notOk((await phase()).expected_services.includes('Manual'));
  t.ok(await is('Manual', 'stopped'), 'enabled, but left to a user');
  t.match(await start(app, 'Manual'), { status: 200 });
  await start(app, 'Hand');
  const pids = [await pidOf(app, 'Hand'), await pidOf(app, 'Manual')];

  await edit(root => {
    Object.assign(root.on ?? {}, { enabled: false });
    Object.assign(root.off ?? {}, { enabled: true });
    Object.assign(root.broken ?? {}, { enabled: false });
    root.fresh = sleeper('Fresh', { enabled: true });
    root.later = sleeper('Later', { enabled: true, autostart: false });
  });
  await Promise.all([becomes('On', 'stopped'), becomes('Off', 'running'), becomes('Fresh', 'running')]);
  await logged('On is disabled in the configuration file now and is stopped');
  await logged('Off is enabled in the configuration file now and is started');
  await logged('Fresh is enabled in the configuration file now and is started');
  t.ok(await is('Later', 'stopped'));
  t.match(await status(app, 'Broken'), { restart: { pending: false } }, 'no longer restarted');
  t.same([await pidOf(app, 'Hand'), await pidOf(app, 'Manual')], pids, 'what did not change goes on');
  t.match((await app.get('/health')).body, { status: 'healthy' });

  await stop(app, 'Off');
  const off = await pidOf(app, 'Fresh');
  await edit(root => {
    Object.assign(root.off ?? {}, { stop_grace_seconds: 2 });
    Object.assign(root.fresh ?? {}, { enabled: 'perhaps' });
    Object.assign(root.hand ?? {}, { stop_grace_seconds: 2 });
  });
  await until(async () => (await app.get('/process?process_name=Fresh')).body.config_problem !== null);
  t.ok(await is('Off', 'stopped'), 'another key starts nothing');
  const restart = await app.post('/process/restart-service', { process_name: 'Fresh' });
  t.match(restart, { status: 409, body: { detail: /^Fresh was not started: fresh\.enabled: .*until it is mended/ } });
  t.equal(await pidOf(app, 'Fresh'), off, 'a value that does not fit stops nothing, nor does a restart by hand');

  await edit(root => {
    Object.assign(root.fresh ?? {}, { enabled: true });
    Object.assign(root.off ?? {}, { enabled: false });
  });
  await until(async () => (await app.get('/process?process_name=Off')).body.enabled === false);
  await edit(root => Object.assign(root.off ?? {}, { enabled: true }));
  await becomes('Off', 'running');
  t.equal(await pidOf(app, 'Fresh'), off);

  await app.post('/config', { process_name: 'Off', updates: { enabled: false }, persist: true });
  t.ok(await is('Off', 'running'), 'a client that saves the key starts and stops by its own requests');
});

t.test('a disabled service is not unhealthy, and its start by hand is forgotten', async t => {
  const crasher = (processName: string, more: object = {}) =>
    sleeper(processName, { command: ['sh', '-c', 'echo ERROR no luck; exit 3'], ...more });
  const app = await startHost({
    plugins: ['config', 'process'],
    config: {
      dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
      failed: crasher('Failed', { enabled: true }),
      hand: crasher('Hand', { enabled: false }),
      whole: crasher('Whole', { enabled: false }),
      misfit: sleeper('Misfit', { enabled: 'perhaps' }),
    },
  });
  t.teardown(() => app.stop());
  const entry = async (name: string) => (await app.get(`/process?process_name=${name}`)).body;
  await until(async () => (await app.get('/process/startup-status')).body.terminal);
  const off = { healthy: null, health_status: null, health_reason: 'Process not running' };

  t.match(await status(app, 'Failed'), { health_status: 'unhealthy', health_reason: /no luck/ });
  await app.post('/config', { process_name: 'Failed', updates: { enabled: false }, persist: true });
  t.match(await status(app, 'Failed'), { ...off, restart: { last_failure_reason: null, last_exit_reason: null } });

  for (const [name, body] of [
    ['Hand', { process_name: 'Hand', updates: { enabled: false } }],
    ['Whole', { updates: { whole: { enabled: false } } }],
  ] as const) {
    t.match(await start(app, name), { status: 500 });
    t.match(await entry(name), { enabled: true, config: { enabled: true } }, 'shown, because a user wants it');
    t.match(await status(app, name), { health_status: 'unhealthy' });
    await app.post('/config', { process_name: name, updates: { stop_grace_seconds: 2 } });
    t.match(await entry(name), { enabled: true }, 'another key disables nothing');
    t.match(await app.post('/config', body), { status: 200, body: { changed: [] } });
    t.match(await entry(name), { enabled: false, config: { enabled: false } }, name);
    t.match(await status(app, name), off, name);
  }

  t.match(await start(app, 'Misfit'), { status: 409 });
  t.match(await status(app, 'Misfit'), { health_status: 'unhealthy', health_reason: /until it is mended/ });
  await app.post('/config', { process_name: 'Misfit', updates: { enabled: false }, persist: true });
  t.match(await status(app, 'Misfit'), { ...off, restart: { last_failure_reason: null } }, 'it is mended');
});
