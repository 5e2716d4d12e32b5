// The wanted state: what a user has started and stopped is kept over a crash, outside of the configuration.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { kid, lives, start, status, stop } from '../../support/kids.ts';
import { freePort, type RunningStackwarden, startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const PLUGINS = ['process', 'config', 'auto-restart', 'health-probe'];

const sleeper = (processName: string, enabled: boolean, more: object = {}) => ({
  enabled,
  process_name: processName,
  command: ['sleep', '600'],
  suppress_logging: true,
  stop_grace_seconds: 1,
  ...more,
});

interface Entry {
  readonly process_name: string;
  readonly enabled: boolean;
  readonly status: string;
  readonly config: { readonly enabled: boolean };
}

const json = async (url: string, init?: RequestInit) => (await fetch(url, init)).json();

const client = ({ base }: RunningStackwarden) => ({
  entry: async (name: string) => {
    const { processes } = (await json(`${base}/process/processes`)) as { processes: Entry[] };
    return processes.find(entry => entry.process_name === name);
  },
  restart: async (name: string) => {
    const url = `${base}/process/service-status?include_health=true&process_name=${name}`;
    return ((await json(url)) as { restart: { disabled: boolean } }).restart;
  },
  post: (route: string, process_name: string) =>
    json(`${base}/process/${route}-service`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ process_name }),
    }),
  terminal: () =>
    until(async () => ((await json(`${base}/process/startup-status`)) as { terminal: boolean }).terminal, {
      timeoutMs: 60_000,
      what: 'the end of the boot',
    }),
});

t.test(
  'after a crash what was stopped stays stopped and what was started is watched; an orderly stop forgets',
  async t => {
    const configDir = testDir(t, {});
    const port = await freePort();
    await writeConfig(configDir, {
      dumb: {
        log_dir: path.join(configDir, 'log'),
        gateway: { enabled: false },
        api_service: { port },
        startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 },
      },
      on: sleeper('On', true),
      off: sleeper('Off', false),
      gone: sleeper('Gone', false),
    });
    const file = path.join(configDir, 'stackwarden.json');
    const before = await readFile(file, 'utf8');
    const state = async () => JSON.parse(await readFile(path.join(configDir, 'supervisor', 'state.json'), 'utf8'));

    const first = await startStackwarden(configDir, port, { plugins: PLUGINS });
    await client(first).terminal();
    for (const name of ['Off', 'Gone']) t.match(await client(first).post('start', name), { status: /successfully/ });
    t.match(await client(first).post('stop', 'On'), { status: /successfully/ });
    t.match(await client(first).entry('Off'), { enabled: true, config: { enabled: true }, status: 'running' });
    t.match(await client(first).entry('On'), { enabled: true, status: 'stopped' });
    const { processes } = await state();
    t.match((await state()).wanted, { Off: { state: 'running', by: 'user' }, On: { state: 'stopped', by: 'user' } });
    first.child.kill('SIGKILL');
    await first.exited;
    process.kill(processes.Gone.pid, 'SIGKILL');

    const second = await startStackwarden(configDir, port, { plugins: PLUGINS });
    await client(second).terminal();
    t.match(await client(second).entry('Off'), { enabled: true, config: { enabled: true }, status: 'running' });
    t.equal((await state()).processes.Off.pid, processes.Off.pid, 'adopted');
    t.match(
      await client(second).entry('Gone'),
      { enabled: true, status: 'running' },
      'brought back like an enabled one',
    );
    t.match(await client(second).entry('On'), { enabled: true, status: 'stopped' });
    t.match(await client(second).restart('On'), { disabled: true });
    t.equal(await readFile(file, 'utf8'), before, 'the configuration knows nothing of it');
    second.child.kill('SIGTERM');
    t.same(await second.exited, { code: 0, signal: null });

    const third = await startStackwarden(configDir, port, { plugins: PLUGINS });
    t.teardown(async () => {
      third.child.kill('SIGTERM');
      await third.exited;
    });
    await client(third).terminal();
    t.match(await client(third).entry('On'), { enabled: true, status: 'running' });
    for (const name of ['Off', 'Gone'])
      t.match(await client(third).entry(name), { enabled: false, config: { enabled: false }, status: 'stopped' });
  },
);

t.test('a stop that a crash has cut short is done by the next host', async t => {
  const configDir = testDir(t, {});
  const port = await writeConfig(configDir, {
    stubborn: kid('Stubborn', ['ignore-term'], { enabled: true, stop_grace_seconds: 5 }),
  });
  const first = await startStackwarden(configDir, port, { plugins: PLUGINS });
  await until(async () => (await client(first).entry('Stubborn'))?.status === 'running');
  const saved = async () => JSON.parse(await readFile(path.join(configDir, 'supervisor', 'state.json'), 'utf8'));
  const state = await saved();
  const cut = client(first)
    .post('stop', 'Stubborn')
    .catch(() => undefined);
  await until(async () => (await client(first).entry('Stubborn'))?.status === 'stopping');
  await until(async () => (await saved()).wanted.Stubborn?.state === 'stopped', { what: 'the wish on the disk' });
  first.child.kill('SIGKILL');
  await Promise.all([first.exited, cut]);
  const second = await startStackwarden(configDir, port, { plugins: PLUGINS });
  t.teardown(async () => {
    second.child.kill('SIGTERM');
    await second.exited;
  });
  await until(async () => (await client(second).entry('Stubborn'))?.status === 'stopped');
  await until(() => !lives(state.processes.Stubborn.pid), { what: 'the end of what was being stopped' });
  t.match(await client(second).restart('Stubborn'), { disabled: true });
});

t.test('a start by hand changes no configuration; what is disabled afterwards is disabled', async t => {
  const configDir = testDir(t, {
    plugins: {
      counter: {
        'index.js': `export default { name: 'counter', host: '^1', setup (host) {
          let changes = 0
          host.tap('config.changed', () => { changes += 1 })
          host.route({ method: 'GET', path: '/changes', summary: 'x', handle: () => ({ changes }) })
        } }`,
      },
    },
  });
  const app = await startHost({
    configDir,
    config: { kid: sleeper('Kid', false) },
    plugins: ['process', 'config', 'counter'],
  });
  t.teardown(() => app.stop());
  const entry = async () =>
    (await app.get('/process/processes')).body.processes.find((one: Entry) => one.process_name === 'Kid');
  t.match(await start(app, 'Kid'), { status: 200 });
  t.same((await app.get('/changes')).body, { changes: 0 });
  t.match(await entry(), { enabled: true, config: { enabled: true } });
  t.match((await app.get('/process?process_name=Kid')).body, { enabled: true, config: { enabled: true } });
  await stop(app, 'Kid');
  t.match(await entry(), { enabled: true, status: 'stopped' }, 'it stays in sight');
  for (const enabled of [true, false])
    await app.post('/config', { process_name: 'Kid', updates: { enabled }, persist: false });
  t.match(await entry(), { enabled: false, config: { enabled: false } });
  t.match(await status(app, 'Kid'), { restart: { disabled: false } });
});

t.test('a failed start by hand does not make the host unhealthy, unless it was ready once', async t => {
  let well = true;
  const server = createServer((_request, response) => response.writeHead(well ? 200 : 500).end());
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as { port: number };
  const app = await startHost({
    config: {
      dumb: { startup: { stabilization_seconds: 0 } },
      missing: sleeper('Missing', false, { command: ['/nowhere/program'] }),
      dying: sleeper('Dying', false, { command: ['false'] }),
      web: sleeper('Web', false, { health: { path: '/', port } }),
    },
    plugins: ['process', 'health-probe', 'health'],
  });
  t.teardown(() => app.stop());
  const health = async () => (await app.get('/health')).body;
  await until(async () => (await health()).phase === 'ready');
  t.match(await start(app, 'Missing'), { status: 400 });
  t.match(await start(app, 'Dying'), { status: 500 });
  for (const name of ['Missing', 'Dying']) t.match(await status(app, name), { health_status: 'unhealthy' }, name);
  t.match(await health(), { status: 'healthy' });
  await start(app, 'Web');
  await until(async () => (await status(app, 'Web')).health_status === 'healthy');
  well = false;
  await until(async () => (await health()).status === 'unhealthy');
  t.match(await health(), { details: /^Web: / });
  await stop(app, 'Web');
  t.match(await health(), { status: 'healthy' });
});
