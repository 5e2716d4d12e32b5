// The start of all enabled services: its phases and order, what makes it degraded, and what makes it ready again.
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import t, { type Test } from 'tap';
import type { EventType } from '../../../core/contract/plugin.ts';
import { testDir } from '../../support/directory.ts';
import { recordEvents } from '../../support/events.ts';
import { startHost, type TestHost } from '../../support/host.ts';
import { start, status, stop } from '../../support/kids.ts';
import { ownLogText } from '../../support/own-log.ts';
import { PACE } from '../../support/pace.ts';
import { until } from '../../support/until.ts';

const sleeper = (processName: string, more: object = {}) => ({
  enabled: true,
  process_name: processName,
  command: ['sleep', '600'],
  suppress_logging: true,
  stop_grace_seconds: 1,
  ...more,
});

/** Pass `pace` 1 when a service must end within the observation, even on a slow machine. */
async function boot(t: Test, services: Record<string, unknown>, startup: object = {}, pace = PACE) {
  const recorder = await recordEvents(t, ['health']);
  const app = await startHost({
    plugins: recorder.plugins,
    pluginDirs: recorder.pluginDirs,
    pace,
    config: {
      dumb: {
        startup: {
          readiness_timeout_seconds: 60,
          stabilization_seconds: 0,
          readiness_poll_interval_seconds: 0.1,
          ...startup,
        },
      },
      ...services,
    },
  });
  t.teardown(() => app.stop());
  const names = (type: EventType) =>
    recorder.events.filter(event => event.type === type).map(event => event.data.processName);
  return { app, names, count: recorder.count };
}

/** A server whose answers carry the health word that the test sets. */
async function healthServer(t: Test) {
  const told = { word: 'starting' };
  const server = createServer((_request, response) => response.end(JSON.stringify({ status: told.word })));
  server.listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return { told, port, url: `http://127.0.0.1:${port}/` };
}

const startupOf = async (app: TestHost) => (await app.get('/process/startup-status')).body;
const untilPhase = (app: TestHost, phase: string) =>
  until(
    async () => {
      const startup = await startupOf(app);
      return startup.phase === phase && startup;
    },
    { what: `the phase ${phase}` },
  );

t.test('without services the start is ready at once', async t => {
  const { app, count } = await boot(t, { off: sleeper('Off', { enabled: false }) }, { stabilization_seconds: 3_600 });
  t.match(await untilPhase(app, 'ready'), { terminal: true, expected_services: [], services: {}, failures: {} });
  await until(() => count('dumb.startup.ready', null) === 1);
});

t.test('the phases follow one another', async t => {
  const wanted = path.join(testDir(t, {}), 'wanted');
  const { told, port } = await healthServer(t);
  const { app, count } = await boot(t, {
    one: sleeper('One', { wait_for_dir: wanted, health: { path: '/', port } }),
    two: sleeper('Two'),
    off: sleeper('Off', { enabled: false }),
  });
  const starting = await until(async () => {
    const startup = await untilPhase(app, 'starting_services');
    return /wanted/.test(startup.services.One.reason) && startup;
  });
  t.match(starting, {
    terminal: false,
    started_at: Number,
    completed_at: null,
    expected_services: ['One', 'Two'],
    services: { One: { state: 'starting', reason: /wanted/, health_status: 'starting', health_details: null } },
  });
  t.strictSame(starting.failures, {});
  t.notOk('Off' in starting.services);
  await mkdir(wanted);
  t.match(await untilPhase(app, 'stabilizing'), { terminal: false, completed_at: null });
  await until(async () => (await startupOf(app)).services.Two.state === 'ready');
  const stabilizing = await startupOf(app);
  t.match(stabilizing, { phase: 'stabilizing', services: { One: { state: 'starting' } } }, 'starting is not ready');
  t.equal(count('dumb.startup.ready', null), 0);
  told.word = 'degraded';
  const ready = await untilPhase(app, 'ready');
  t.match(ready, {
    terminal: true,
    completed_at: Number,
    services: { One: { state: 'ready', health_status: 'degraded' }, Two: { state: 'ready', health_status: 'healthy' } },
    failures: {},
  });
  t.ok(ready.completed_at >= ready.started_at);
  t.equal(count('dumb.startup.degraded', null), 0);
});

t.test('a service that does not start makes the start degraded until it is stopped by hand', async t => {
  const { app, names, count } = await boot(
    t,
    {
      broken: sleeper('Broken', { command: ['sh', '-c', 'echo ERROR out of luck; exit 9'] }),
      well: sleeper('Well', { wait_for_url: [] }),
      dependent: sleeper('Dependent', { wait_for_tcp: [] }),
    },
    {},
    1,
  );
  const reason = /Broken failed to stay running \(exit code 9\): ERROR out of luck/;
  const degraded = await untilPhase(app, 'degraded');
  t.match(degraded, {
    terminal: true,
    completed_at: Number,
    expected_services: ['Broken', 'Well', 'Dependent'],
    failures: { Broken: reason },
    services: { Broken: { state: 'failed', reason, health_status: 'unhealthy' }, Well: { state: 'ready' } },
  });
  t.same(Object.keys(degraded.failures), ['Broken']);
  await until(() => names('service_start').length >= 2 && count('dumb.startup.degraded', null) === 1);
  t.same(names('service_start').sort(), ['Dependent', 'Well']);
  t.equal((await app.get('/health')).body.status, 'unhealthy');
  await stop(app, 'Broken');
  const ready = await untilPhase(app, 'ready');
  t.strictSame(ready.failures, {});
  t.match(ready.services.Broken, { state: 'pending', reason: null });
  t.equal(ready.completed_at, degraded.completed_at);
  t.equal((await app.get('/health')).body.status, 'healthy');
});

t.test('what failed and is stopped by hand before the boot is over does not make the start degraded', async t => {
  const { told, port } = await healthServer(t);
  const { app, count } = await boot(t, {
    slow: sleeper('Slow', { health: { path: '/', port } }),
    broken: sleeper('Broken', { command: ['/nowhere/program'] }),
  });
  await untilPhase(app, 'stabilizing');
  t.match(await startupOf(app), { failures: { Broken: String }, services: { Broken: { state: 'failed' } } });
  await stop(app, 'Broken');
  told.word = 'healthy';
  await until(() => count('dumb.startup.ready', null) + count('dumb.startup.degraded', null) === 1);
  t.equal(count('dumb.startup.degraded', null), 0);
  t.match(await startupOf(app), {
    phase: 'ready',
    failures: {},
    services: { Broken: { state: 'pending', reason: null } },
  });
});

t.test('a degraded start becomes ready when what failed is ready, not when it is merely started', async t => {
  const { told, port } = await healthServer(t);
  const { app } = await boot(
    t,
    {
      broken: sleeper('Broken', { command: ['false'], health: { path: '/', port } }),
    },
    {},
    1,
  );
  await untilPhase(app, 'degraded');
  await app.post('/config', { process_name: 'Broken', updates: { command: ['sleep', '600'] } });
  t.equal((await start(app, 'Broken')).status, 200);
  await until(async () => (await status(app, 'Broken')).health_reason?.includes('reports starting'));
  t.match(await startupOf(app), { phase: 'degraded', failures: { Broken: String } });
  told.word = 'ok';
  t.match(await untilPhase(app, 'ready'), { failures: {}, services: { Broken: { state: 'ready', reason: null } } });
});

t.test('a service that ends during the boot does not delay it, and is restarted afterwards', async t => {
  const { told, port } = await healthServer(t);
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const ends = `cd ${dir}; [ -e again ] && exec sleep 600; until [ -e end ]; do sleep 0.1; done; touch again; exit 3`;
  const { app, count } = await boot(
    t,
    {
      slow: sleeper('Slow', { health: { path: '/', port } }),
      ends: sleeper('Ends', { command: ['sh', '-c', ends], restart: { policy: 'always', backoff_seconds: [0] } }),
    },
    { readiness_timeout_seconds: 600 },
  );
  await untilPhase(app, 'stabilizing');
  await until(async () => (await startupOf(app)).services.Ends.state === 'ready');
  await writeFile(path.join(dir, 'end'), '');
  await until(async () => (await status(app, 'Ends')).status === 'stopped');
  told.word = 'healthy';
  await until(() => count('dumb.startup.degraded', null) === 1, {
    what: 'the end of the boot, without a wait for Ends',
  });
  t.match(await untilPhase(app, 'ready'), { failures: {}, services: { Ends: { state: 'ready' } } });
  t.match(await status(app, 'Ends'), { status: 'running' });
});

t.test('a service that is not ready in time makes the start degraded', async t => {
  const { told, port } = await healthServer(t);
  const { app } = await boot(
    t,
    { slow: sleeper('Slow', { health: { path: '/', port } }), stopped: sleeper('Stopped') },
    { readiness_timeout_seconds: 0 },
  );
  t.match(await untilPhase(app, 'degraded'), {
    failures: { Slow: 'not ready in time' },
    services: { Slow: { state: 'failed' }, Stopped: { state: 'ready' } },
  });
  told.word = 'healthy';
  t.match(await untilPhase(app, 'ready'), { services: { Slow: { state: 'ready' } } });
});

t.test('a service that waits for ever does not prevent the end of the start', async t => {
  const wanted = path.join(testDir(t, {}), 'wanted');
  const { app } = await boot(t, { one: sleeper('One', { wait_for_dir: wanted }) }, { readiness_timeout_seconds: 0 });
  t.match(await untilPhase(app, 'degraded'), { failures: { One: 'not ready in time' } });
  t.match(await status(app, 'One'), { status: 'starting', health_reason: `Waiting for directory ${wanted}` });
  await mkdir(wanted);
  t.match(await untilPhase(app, 'ready'), { services: { One: { state: 'ready' } } });
  t.match(await status(app, 'One'), { status: 'running' });
});

t.test('dependencies start first, and one that fails or waits delays no other', async t => {
  const { port, url } = await healthServer(t);
  const provided = path.join(testDir(t, {}), 'provided');
  const after = (name: string) => ({ wait_for_url: { url, process_name: name } });
  const { app, names } = await boot(t, {
    third: sleeper('Third', after('Second')),
    second: sleeper('Second', after('First')),
    first: sleeper('First', { wait_for_tcp: { port } }),
    'after-broken': sleeper('After broken', after('Broken')),
    broken: sleeper('Broken', { command: ['/nowhere/program'] }),
    consumer: sleeper('Consumer', { wait_for_dir: provided }),
    // Ordered after its consumer, although it provides what the consumer waits for.
    provider: sleeper('Provider', after('Consumer')),
  });
  await until(() => names('service_start').includes('Provider'), { what: 'the provider to be started' });
  t.notOk(names('service_start').includes('Consumer'));
  await mkdir(provided);
  t.match(await untilPhase(app, 'degraded'), { failures: { Broken: /\/nowhere\/program was not found/ } });
  const order = names('service_start');
  t.same(
    order.filter(name => ['First', 'Second', 'Third'].includes(String(name))),
    ['First', 'Second', 'Third'],
  );
  t.ok(order.includes('After broken'));
  t.ok(order.includes('Consumer'));
});

t.test('services that wait for each other are started in file order, with a warning', async t => {
  const { url } = await healthServer(t);
  const logDir = testDir(t, {});
  const after = (name: string) => ({ wait_for_url: { url, process_name: name } });
  const recorder = await recordEvents(t);
  const app = await startHost({
    plugins: recorder.plugins,
    pluginDirs: recorder.pluginDirs,
    config: {
      dumb: { log_dir: logDir, startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
      a: sleeper('A', after('B')),
      b: sleeper('B', after('A')),
      itself: sleeper('Itself', after('Itself')),
    },
  });
  t.teardown(() => app.stop());
  await untilPhase(app, 'ready');
  const order = recorder.events.filter(({ type }) => type === 'service_start').map(event => event.data.processName);
  t.same(
    order.filter(name => name !== 'Itself'),
    ['A', 'B'],
  );
  t.ok(order.includes('Itself'));
  await until(async () => / - WARNING - .*A -> B -> A/.test(await ownLogText(logDir)));
});
