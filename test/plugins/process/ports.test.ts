// Taken ports: which service keeps one, what the others get, what is saved and reported, and what stays as it is.
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost, type TestHost } from '../../support/host.ts';
import { kid, pidOf, restart, start, status } from '../../support/kids.ts';
import { ownLog, ownLogText } from '../../support/own-log.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const sleeper = (processName: string, more: object = {}) => ({
  enabled: false,
  process_name: processName,
  command: ['sleep', '600'],
  suppress_logging: true,
  stop_grace_seconds: 1,
  ...more,
});

/** A key of blocks that names the port of the service once more. */
const SIDECAR = `
  const sidecar = host.z.object({ port: host.z.number() }).optional()
  host.contribute('config.block', host.name, { schema: host.z.looseObject({ sidecar }) })
  host.contribute('process.own-ports', host.name, { members: [['sidecar', 'port']] })
`;

const hasTemplates = existsSync(new URL('../../../plugins/services/index.ts', import.meta.url));

const hasIpv6 = Object.values(networkInterfaces()).some(known => known?.some(({ address }) => address === '::1'));

/** Listens as a foreign program; returns the port. */
async function occupy(t: Test, host = '127.0.0.1', wanted?: number): Promise<number> {
  // No outgoing connection uses a port above one of these.
  const port = wanted ?? (await freePort());
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  t.teardown(() => server.close());
  return (server.address() as { port: number }).port;
}

const configFile = (app: TestHost) => path.join(app.configDir, 'stackwarden.json');
const saved = async (app: TestHost) => JSON.parse(await readFile(configFile(app), 'utf8'));

/** What the next host knows of starts and stops by hand. */
const wanted = async (app: TestHost) =>
  JSON.parse(await readFile(path.join(app.configDir, 'supervisor', 'state.json'), 'utf8')).wanted;

async function entry(app: TestHost, name: string) {
  const { processes } = (await app.get('/process/processes')).body;
  return processes.find((known: { process_name: string }) => known.process_name === name);
}

t.test('a foreign listener keeps its port, on any family; all that changed is saved at once and said', async t => {
  const logDir = testDir(t, {});
  const taken = await occupy(t);
  const takenWeb = await occupy(t, '0.0.0.0');
  const free = await freePort();
  const app = await startHost({
    config: {
      dumb: { log_dir: logDir },
      web: sleeper('Web', { port: taken, frontend_port: takenWeb, backend_port: free, note: 'kept' }),
    },
  });
  t.teardown(() => app.stop());
  const before = await saved(app);
  t.equal((await start(app, 'Web')).status, 200);
  const { web } = await saved(app);
  t.ok(web.port > taken, 'upward');
  t.ok(web.frontend_port > takenWeb, 'upward');
  t.equal(web.backend_port, free, 'a free one stays');
  t.equal(new Set([web.port, web.frontend_port, web.backend_port]).size, 3);
  t.same(
    { ...web, port: taken, frontend_port: takenWeb },
    before.web,
    'nothing else is written, the flag of the start by hand neither',
  );
  t.match((await app.get('/config?process_name=Web')).body, { port: web.port, frontend_port: web.frontend_port });
  const log = await until(async () => {
    const text = await ownLogText(logDir);
    return text.includes(`frontend_port ${takenWeb}`) && text;
  });
  t.match(log, new RegExp(` - WARNING - .*Web: port ${taken} .*${web.port}`));
  t.match(log, new RegExp(` - WARNING - .*Web: frontend_port ${takenWeb} .*${web.frontend_port}`));

  // A moved port stays where it is.
  t.equal((await restart(app, 'Web')).status, 200);
  t.match((await saved(app)).web, { port: web.port, frontend_port: web.frontend_port });
});

t.test('a port that only the loopback address of IPv6 has is taken', { skip: !hasIpv6 }, async t => {
  const taken = await occupy(t, '::1');
  const app = await startHost({ config: { web: sleeper('Web', { port: taken }) } });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'Web')).status, 200);
  t.ok((await saved(app)).web.port > taken);
});

t.test('a port that the environment gives moves in memory alone', async t => {
  const logDir = testDir(t, {});
  const taken = await occupy(t);
  const own = await freePort();
  const app = await startHost({
    config: { dumb: { log_dir: logDir }, web: sleeper('Web', { enabled: true, port: own, frontend_port: taken }) },
    env: { WEB_PORT: String(taken) },
  });
  t.teardown(() => app.stop());
  await until(async () => (await status(app, 'Web')).status === 'running');
  const shown = (await app.get('/config?process_name=Web')).body;
  t.ok(shown.port > taken, 'what runs has a free one');
  const { web } = await saved(app);
  t.equal(web.port, own, 'the file keeps what a user wrote there');
  t.equal(web.frontend_port, shown.frontend_port, 'another port of the same service is saved');
  t.ok(web.frontend_port > taken && web.frontend_port !== shown.port);
  const line = `Web: port ${taken} is in use`;
  await until(async () => (await ownLogText(logDir)).includes('Web runs as pid'));
  t.equal((await ownLogText(logDir)).split(line).length, 2, 'said once');
});

t.test('a port of a service that memory alone has moves there', async t => {
  const taken = await occupy(t);
  const app = await startHost({ config: {} });
  t.teardown(() => app.stop());
  const web = sleeper('Web', { port: taken });
  t.equal((await app.post('/config', { updates: { web }, persist: false })).status, 200);
  t.equal((await start(app, 'Web')).status, 200);
  t.ok((await app.get('/config?process_name=Web')).body.port > taken);
  t.notOk('web' in (await saved(app)), 'a port alone is no process');
});

t.test('waits of local services for a moved port follow it, and nothing else', async t => {
  const taken = await occupy(t);
  const atBoot = await occupy(t);
  const both = await freePort();
  const address = (port: number, more = '') => `http://127.0.0.1:${port}${more}`;
  const app = await startHost({
    config: {
      web: sleeper('Web', { port: taken }),
      early: sleeper('Early', { port: atBoot, enabled: true }),
      first: sleeper('First', { port: both, enabled: true }),
      second: sleeper('Second', { port: both, enabled: true }),
      later: sleeper('Later', { port: atBoot, enabled: true }),
      list: sleeper('List', {
        wait_for_url: [
          { url: address(taken, '/health?a=1'), process_name: 'Web', timeout: 3 },
          { url: address(taken), process_name: 'Another' },
          `http://localhost:${taken}`,
          `http://example.org:${taken}/`,
          address(atBoot, '/'),
          address(both),
          { url: address(both), process_name: 'SECOND' },
          { url: address(atBoot), process_name: 'Later' },
        ],
        wait_for_tcp: { host: '127.0.0.1', port: taken },
      }),
      text: sleeper('Text', { wait_for_url: address(taken, '/x') }),
      calm: sleeper('Calm', { wait_for_url: 'http://127.0.0.1:1/' }),
    },
  });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'Web')).status, 200);
  const { web, early, second, later, list, text, calm } = await saved(app);
  t.ok(web.port > taken);
  t.ok(early.port > atBoot);
  t.ok(second.port > both);
  t.ok(later.port > early.port);
  t.same(list.wait_for_url, [
    { url: address(web.port, '/health?a=1'), process_name: 'Web', timeout: 3 },
    { url: address(taken), process_name: 'Another' },
    `http://localhost:${web.port}`,
    `http://example.org:${taken}/`,
    address(early.port, '/'),
    address(both),
    { url: address(second.port), process_name: 'SECOND' },
    { url: address(later.port), process_name: 'Later' },
  ]);
  t.same(list.wait_for_tcp, { host: '127.0.0.1', port: web.port });
  t.equal(text.wait_for_url, address(web.port, '/x'));
  t.equal(calm.wait_for_url, 'http://127.0.0.1:1/');
});

t.test('its own probes that name it once more go along, so that they never ask who has the former port', async t => {
  const [taken, atBoot, elsewhere] = [await occupy(t), await occupy(t), await freePort()];
  const probes = (port: number) => ({
    health: { path: '/', port },
    readiness: { tcp: { port }, interval_seconds: 3 },
    liveness: { http: { path: '/alive', port } },
  });
  const app = await startHost({
    plugins: ['process', 'readiness'],
    config: {
      web: sleeper('Web', { port: taken, ...probes(taken) }),
      early: sleeper('Early', { frontend_port: atBoot, enabled: true, ...probes(atBoot) }),
      other: sleeper('Other', { port: taken, ...probes(elsewhere) }),
      neighbour: sleeper('Neighbour', probes(taken)),
    },
  });
  t.teardown(() => app.stop());
  for (const name of ['Web', 'Other']) t.equal((await start(app, name)).status, 200);
  const { web, early, other, neighbour } = await saved(app);
  t.ok(web.port > taken && early.frontend_port > atBoot && other.port > taken);
  t.match(web, probes(web.port));
  t.match(early, probes(early.frontend_port));
  t.match(other, probes(elsewhere));
  t.match(neighbour, probes(taken), 'a port that is not its own');
});

t.test('a number in its launch that goes not along is told', async t => {
  const taken = await occupy(t);
  const app = await startHost({
    config: {
      web: sleeper('Web', {
        port: taken,
        command: `sleep 600 --listen=0.0.0.0:${taken}`,
        env: { PORT: `${taken}`, HTTP_PORT: taken, WEB_PORT: '{port}', LONG: `${taken}0` },
      }),
    },
  });
  t.teardown(() => app.stop());
  await start(app, 'Web');
  const { web } = await saved(app);
  t.ok(web.port > taken);
  t.match(web.env, { PORT: `${taken}`, HTTP_PORT: taken });
  const told = (await ownLog(app)).filter(line => line.includes('write {port} instead'));
  t.same(
    told.map(line => /Web: (\S+) says (\d+) still/.exec(line)?.slice(1)),
    ['command', 'env.PORT', 'env.HTTP_PORT'].map(place => [place, `${taken}`]),
  );
});

t.test('a number that the launch replaces is not told', { skip: !hasTemplates }, async t => {
  const first = { enabled: true, autostart: false };
  const second = { enabled: true, autostart: false };
  const app = await startHost({
    plugins: ['config', 'process', 'services'],
    config: {
      first: sleeper('First', { ...first, port: 7_777 }),
      mediastorm: second,
      other: sleeper('Other', { ...first, port: 3_004 }),
      traefik_proxy_admin: { ...second, env: { OWN_PORT: '3004' } },
    },
  });
  t.teardown(() => app.stop());
  const log = await until(async () => {
    const lines = await ownLog(app);
    return lines.some(line => line.includes('port 3004 is in use')) && lines.join('\n');
  });
  t.match(log, /mediastorm: port 7777 is in use/);
  t.same(String(log).match(/\S+ says \d+ still/g), ['env.OWN_PORT says 3004 still'], 'but one of the user is');
});

t.test('a plugin says where its own keys name the port, so that they go along', async t => {
  const taken = await occupy(t);
  const app = await startWithPlugins(
    t,
    { sidecar: { setup: SIDECAR } },
    { shipped: ['process'], config: { web: sleeper('Web', { port: taken, sidecar: { port: taken } }) } },
  );
  t.equal((await start(app, 'Web')).status, 200);
  const { web } = await saved(app);
  t.ok(web.port > taken);
  t.same(web.sidecar, { port: web.port });
});

t.test('of several entries the first in the file keeps a port, those of the product come before all', async t => {
  const [shared, ofProduct] = [await freePort(), await freePort()];
  const app = await startHost({
    config: {
      first: sleeper('First', { enabled: true, port: shared, backend_port: ofProduct }),
      off: sleeper('Off', { port: ofProduct }),
      second: sleeper('Second', { enabled: true, port: shared }),
      'not-a-port': sleeper('Not a port', { enabled: true, webdav_port: 65_535 }),
      dumb: { frontend: { enabled: true, process_name: 'DUMB Frontend', port: ofProduct } },
    },
  });
  t.teardown(() => app.stop());
  await until(async () => (await status(app, 'First')).status === 'running');
  await until(async () => (await status(app, 'Second')).status === 'running');
  const { first, second, off, dumb } = await saved(app);
  t.equal(first.port, shared);
  t.ok(second.port > shared);
  t.ok(first.backend_port > ofProduct, 'the product keeps its port although it comes later in the file');
  t.equal(dumb.frontend.port, ofProduct);
  t.equal(off.port, ofProduct, 'a disabled entry is left alone');
});

t.test('the new port is nobody else’s either', async t => {
  const taken = await occupy(t);
  const app = await startHost({
    config: {
      one: sleeper('One', { port: taken }),
      next: sleeper('Next', { enabled: true, port: taken + 1, webdav_port: taken + 2 }),
    },
  });
  t.teardown(() => app.stop());
  await until(async () => (await status(app, 'Next')).status === 'running');
  const { next } = await saved(app);
  t.equal((await start(app, 'One')).status, 200);
  const { one } = await saved(app);
  t.ok(one.port > taken && ![next.port, next.webdav_port].includes(one.port), `${one.port}`);
});

t.test('services that are started at the same time get different ports', async t => {
  const port = await freePort();
  const names = ['One', 'Two', 'Three', 'Four'];
  const app = await startHost({ config: Object.fromEntries(names.map(name => [name, sleeper(name, { port })])) });
  t.teardown(() => app.stop());
  for (const { status } of await Promise.all(names.map(name => start(app, name)))) t.equal(status, 200);
  const after = await saved(app);
  t.equal(new Set(names.map(name => after[name].port)).size, names.length);
});

t.test('a start that waits keeps the port that it was given', async t => {
  const [port, wait_for_dir] = [await freePort(), path.join(testDir(t, {}), 'later')];
  const app = await startHost({
    config: { first: sleeper('First', { port }), waits: sleeper('Waits', { port, wait_for_dir }) },
  });
  t.teardown(() => app.stop());
  const waiting = start(app, 'Waits');
  await until(async () => /^Waiting for/.test((await status(app, 'Waits')).health_reason));
  t.equal((await start(app, 'First')).status, 200);
  await mkdir(wait_for_dir);
  t.equal((await waiting).status, 200);
  const { first, waits } = await saved(app);
  t.equal(waits.port, port);
  t.not(first.port, port);
});

t.test('a service that runs keeps its port although it does not listen yet', async t => {
  const port = await freePort();
  const config = { first: sleeper('First', { port }), slow: sleeper('Slow', { port }) };
  const app = await startHost({ config });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'Slow')).status, 200);
  t.equal((await start(app, 'First')).status, 200);
  const { first, slow } = await saved(app);
  t.equal(slow.port, port);
  t.not(first.port, port);
});

t.test('a service that is restarted finds its own port free', async t => {
  const port = await freePort();
  const app = await startHost({ config: { web: kid('Web', ['web'], { port, env: { PORT: '{port}' } }) } });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'Web')).status, 200);
  const used = (await saved(app)).web.port;
  await until(async () => (await status(app, 'Web')).health_status === 'healthy');
  const before = await pidOf(app, 'Web');
  t.equal((await restart(app, 'Web')).status, 200);
  t.not(await pidOf(app, 'Web'), before);
  t.equal((await saved(app)).web.port, used);
});

t.test('without a free port nothing is changed or launched', async t => {
  const last = await occupy(t, '127.0.0.1', 65_535).catch(() => 65_535);
  const app = await startHost({ config: { web: sleeper('Web', { port: last }) } });
  t.teardown(() => app.stop());
  const before = await readFile(configFile(app), 'utf8');
  t.match(await start(app, 'Web'), { status: 500, body: { detail: /Web cannot start: no port above 65535 is free/ } });
  t.equal(await readFile(configFile(app), 'utf8'), before);
  t.match(await status(app, 'Web'), { status: 'stopped', health_status: 'unhealthy' });
  t.match(await entry(app, 'Web'), { enabled: false }, 'nor is it wanted from then on');
  t.same(await wanted(app), {}, 'or by the next host');
});

t.test('a port that cannot be saved is not changed, and nothing is launched', async t => {
  const taken = await occupy(t);
  const app = await startHost({
    config: { web: sleeper('Web', { port: taken }) },
  });
  t.teardown(() => app.stop());
  // A person is in the middle of an edit; such a file is never overwritten.
  await writeFile(configFile(app), '{ "web": ');
  t.match(await start(app, 'Web'), {
    status: 500,
    body: { detail: /Web was not started: its changed port could not be saved/ },
  });
  t.match(await status(app, 'Web'), { status: 'stopped', restart: { last_exit_time: null } });
  t.match(await entry(app, 'Web'), { enabled: false });
  t.same(await wanted(app), {});
  t.equal(await readFile(configFile(app), 'utf8'), '{ "web": ');
  t.equal((await app.get('/config?process_name=Web')).body.port, taken);
});

t.test('the ports of the product itself are never moved', async t => {
  const taken = await occupy(t);
  const app = await startHost({
    config: { dumb: { frontend: sleeper('DUMB Frontend', { port: taken, config_dir: tmpdir() }) } },
  });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'DUMB Frontend')).status, 200);
  t.equal((await saved(app)).dumb.frontend.port, taken);
});

t.test('a pair of ports moves together', { skip: !hasTemplates }, async t => {
  const taken = await occupy(t);
  const dir = testDir(t, {});
  const app = await startHost({
    plugins: ['config', 'process', 'services'],
    config: {
      traefik: {
        port: taken - 1,
        command: ['sleep', '600'],
        config_dir: dir,
        config_file: path.join(dir, 'traefik.yml'),
      },
    },
  });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'Traefik')).status, 200);
  const { port } = (await saved(app)).traefik;
  t.ok(port > taken, 'its web port is free, but not the one after it, which the dashboard takes');
});
