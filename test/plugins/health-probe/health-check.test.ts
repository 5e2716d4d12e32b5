// Health checks of running processes over real sockets: their ports, their health address, and the meaning of its
// words.
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost, type TestHost } from '../../support/host.ts';
import { start, status } from '../../support/kids.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

/** A real program that does nothing; the health checks go to servers of the test. */
const sleeper = (processName: string, more: object) => ({
  enabled: false,
  process_name: processName,
  command: ['sleep', '600'],
  suppress_logging: true,
  ...more,
});

async function listen(t: Test, handler: RequestListener): Promise<number> {
  const server = createServer(handler).listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as { port: number }).port;
}

/** Waits for the first result of the probe. */
const probed = (app: TestHost, name: string) =>
  until(
    async () => {
      const answer = await status(app, name);
      return answer.health_details !== null && answer;
    },
    { what: `a health report of ${name}` },
  );

/** Waits for a result from a server that answers: on a slow machine, a first probe may have timed out. */
const answered = (app: TestHost, name: string) =>
  until(
    async () => {
      const answer = await probed(app, name);
      return answer.health_details.error_type !== 'TimeoutError' && answer;
    },
    { what: `a probe of ${name} in time` },
  );

const json = (value: unknown, code = 200) => ({ code, body: JSON.stringify(value) });

const answers: Record<string, { code: number; body: string; expect: string; reason?: RegExp | null }> = {
  plain: { code: 200, body: 'hello', expect: 'healthy', reason: null },
  empty: { code: 204, body: '', expect: 'healthy' },
  ok: { ...json({ status: 'ok' }), expect: 'healthy', reason: null },
  'overall-up': { ...json({ overallStatus: 'UP' }), expect: 'healthy' },
  'ready-503': { ...json({ state: 'ready' }, 503), expect: 'healthy' },
  true: { ...json({ healthy: false, health: true }, 500), expect: 'healthy' },
  starting: { ...json({ status: 'Starting' }), expect: 'starting', reason: /reports Starting/ },
  migrating: { ...json({ status: 'migrating' }, 503), expect: 'starting', reason: /reports migrating/ },
  'warming-up': { ...json({ health: 'warming up' }), expect: 'starting' },
  initialising: { ...json({ state: 'initializing' }, 404), expect: 'starting' },
  warn: { ...json({ status: 'warn' }), expect: 'degraded', reason: /reports warn/ },
  'degraded-500': { ...json({ status: 'degraded' }, 500), expect: 'degraded' },
  unknown: { ...json({ status: 'unknown' }), expect: 'degraded' },
  down: { ...json({ status: 'DOWN' }), expect: 'unhealthy', reason: /reports DOWN/ },
  'not-ready': { ...json({ status: 'not ready' }), expect: 'unhealthy' },
  not_ready: { ...json({ status: 'not_ready' }), expect: 'unhealthy' },
  unhealthy: { ...json({ status: 'Unhealthy' }), expect: 'unhealthy' },
  'word-without-meaning': { ...json({ status: 'downloading' }), expect: 'healthy' },
  'failing-without-meaning': { ...json({ status: 'upgrading' }, 500), expect: 'unhealthy' },
  'state-is-a-number': { ...json({ status: 3 }, 500), expect: 'unhealthy', reason: /answers 500/ },
  'state-in-a-list': { ...json([{ status: 'down' }]), expect: 'healthy' },
  unauthorized: { code: 401, body: '', expect: 'degraded', reason: /answers 401/ },
  forbidden: { code: 403, body: '', expect: 'degraded' },
  'not-found': { code: 404, body: '<html>', expect: 'degraded' },
  'not-allowed': { code: 405, body: '', expect: 'degraded' },
  'too-many': { code: 429, body: '', expect: 'degraded' },
  'bad-gateway': { code: 502, body: '', expect: 'unhealthy', reason: /answers 502/ },
  'largest-body': { code: 200, body: 'x'.repeat(64 * 1024), expect: 'healthy' },
  'too-large-body': { code: 200, body: 'x'.repeat(64 * 1024 + 1), expect: 'degraded', reason: /more than 65536 bytes/ },
};

t.test('health follows from the words, status code and size of an answer', async t => {
  const port = await listen(t, (request, response) => {
    const { code, body } = answers[String(request.url).slice('/case/'.length)] ?? { code: 500, body: '' };
    response.writeHead(code).end(body);
  });
  const app = await startHost({
    config: Object.fromEntries(
      Object.keys(answers).map(name => [name, sleeper(name, { health: { path: `/case/${name}`, port } })]),
    ),
  });
  t.teardown(() => app.stop());
  const started = await Promise.all(Object.keys(answers).map(name => start(app, name)));
  t.ok(started.every(answer => answer.status === 200));
  for (const [name, { code, expect, reason }] of Object.entries(answers)) {
    const answer = await answered(app, name);
    t.match(
      answer,
      { status: 'running', health_status: expect, healthy: expect !== 'unhealthy' },
      `${name}: ${JSON.stringify(answer)}`,
    );
    if (reason !== undefined) t.match(answer.health_reason, reason, name);
    t.match(answer.health_details, { probe: 'http', endpoint: `/case/${name}`, port }, name);
    if (name !== 'too-large-body') {
      t.equal(answer.health_details.http_status, code, name);
      t.ok(Number.isInteger(answer.health_details.latency_ms), name);
    }
  }
  t.equal((await status(app, 'migrating')).health_details.reported_status, 'migrating');
  t.match((await status(app, 'migrating')).restart, { readiness_state: 'starting', ready_at: null });
  t.match((await status(app, 'warn')).restart, { readiness_state: 'ready', ready_at: Number });
  t.match((await status(app, 'down')).restart, { readiness_state: 'unhealthy', ready_at: null });
});

t.test('failures are unhealthy, redirects are not followed, and no body is shown', async t => {
  const followed: string[] = [];
  const port = await listen(t, (request, response) => {
    if (request.url === '/redirect') response.writeHead(302, { location: '/target?key=hunter2' }).end();
    else if (request.url === '/fragment') response.writeHead(302, { location: '/target#key=hunter2' }).end();
    else if (request.url?.startsWith('/target')) response.end(String(followed.push('followed')));
    else if (request.url === '/reset') request.socket.destroy();
    else if (request.url === '/components') {
      const components = Object.fromEntries(
        Array.from({ length: 20 }, (_, index) => [`${index} ${'n'.repeat(100)}`, { status: 'up', secret: 'hunter2' }]),
      );
      response.end(JSON.stringify({ status: 'up', components, password: 'hunter2' }));
    }
    // All other requests get no answer.
  });
  const nobody = await freePort();
  const block = (name: string, more: object = {}) => sleeper(name, { health: { path: `/${name}`, port }, ...more });
  const app = await startHost({
    config: {
      redirect: block('redirect'),
      fragment: block('fragment'),
      reset: block('reset'),
      components: block('components'),
      silent: block('silent'),
      refused: block('refused', { health: { path: '/', port: nobody } }),
    },
  });
  t.teardown(() => app.stop());
  const names = ['redirect', 'fragment', 'reset', 'components', 'silent', 'refused'];
  await Promise.all(names.map(name => start(app, name)));

  for (const name of ['redirect', 'fragment']) {
    const redirected = await probed(app, name);
    t.match(redirected, { health_status: 'degraded', health_details: { http_status: 302, location: '/target' } });
    t.notMatch(JSON.stringify(redirected), /hunter2/);
  }
  t.same(followed, []);
  t.match(await probed(app, 'reset'), { health_status: 'unhealthy', health_reason: '/reset does not answer' });
  t.match(await probed(app, 'refused'), { health_status: 'unhealthy', health_reason: '/ does not answer' });
  t.match(await probed(app, 'silent'), {
    health_status: 'unhealthy',
    healthy: false,
    health_reason: '/silent does not answer',
    health_details: { error_type: 'TimeoutError' },
  });
  const { health_details: details } = await probed(app, 'components');
  t.equal(details.components.length, 12);
  t.match(details.components[0], { name: /^0 n+$/, status: 'up' });
  t.ok(details.components.every((component: { name: string }) => component.name.length <= 80));
  t.notMatch(JSON.stringify(details), /hunter2/);
});

t.test('components in a list, and those that tell no state in a word', async t => {
  const bodies: Record<string, unknown> = {
    '/list': { status: 'pass', checks: [{ name: 'db', status: 'UP' }, { status: 'UP' }, null, 'queue'] },
    '/odd': {
      status: 'pass',
      components: { db: { status: { code: 'UP' } }, disk: null, queue: { size: 3 }, web: true },
    },
  };
  const port = await listen(t, ({ url = '' }, response) => response.end(JSON.stringify(bodies[url])));
  const block = (name: string) => sleeper(name, { health: { path: `/${name}`, port } });
  const app = await startHost({ config: { list: block('list'), odd: block('odd') } });
  t.teardown(() => app.stop());
  const componentsOf = async (name: string) => {
    await start(app, name);
    return (await answered(app, name)).health_details.components;
  };
  t.same(await componentsOf('list'), [{ name: 'db', status: 'UP' }]);
  t.same(await componentsOf('odd'), [{ name: 'web', status: 'true' }]);
});

t.test('a report tells no secret of the address or of the answer', async t => {
  const port = await listen(t, (_request, response) => {
    response.writeHead(500).end(JSON.stringify({ status: 'password=hunter2', checks: { db: 'token=hunter2' } }));
  });
  const health = { path: '/well?apikey=hunter2&full=1', port };
  const app = await startHost({ config: { asked: sleeper('asked', { health }) } });
  t.teardown(() => app.stop());
  await start(app, 'asked');
  const asked = await answered(app, 'asked');
  t.match(asked, {
    health_reason: '/well?apikey=[REDACTED]&full=1 answers 500',
    health_details: {
      endpoint: '/well?apikey=[REDACTED]&full=1',
      http_status: 500,
      reported_status: 'password=[REDACTED]',
      components: [{ name: 'db', status: 'token=[REDACTED]' }],
    },
  });
  t.notMatch(JSON.stringify(asked), /hunter2/);
});

t.test('every configured port must accept connections, those of the environment too', async t => {
  const [port, webPort, ofEnvironment] = [await freePort(), await freePort(), await freePort()];
  const app = await startHost({
    config: {
      tcp: sleeper('Tcp', {
        host: '0.0.0.0',
        port,
        frontend_port: webPort,
        env: { PORT: String(ofEnvironment), BACKEND_PORT: 'none', WEBDAV_PORT: '{port}' },
        health: { path: '/', port },
      }),
      none: sleeper('None', {}),
    },
  });
  t.teardown(() => app.stop());
  await Promise.all([start(app, 'Tcp'), start(app, 'None')]);
  t.match(await probed(app, 'None'), { health_status: 'healthy', health_details: { probe: 'process' } });
  const { port: used, frontend_port: usedForWeb } = (await app.get('/config?process_name=Tcp')).body;
  const refuses = (expected: number) =>
    until(
      async () => {
        const { health_status: health, health_reason: reason } = await status(app, 'Tcp');
        return health === 'unhealthy' && reason === `Port 127.0.0.1:${expected} not responding`;
      },
      { what: `port ${expected} to be missed` },
    );
  const accept = async (at: number) => {
    const server = createServer((_request, response) => response.end()).listen(at, '127.0.0.1');
    await new Promise(resolve => server.once('listening', resolve));
    const close = () => {
      server.closeAllConnections();
      server.close();
    };
    t.teardown(close);
    return close;
  };
  await refuses(used);
  const closeFirst = await accept(used);
  await accept(usedForWeb);
  await refuses(ofEnvironment);
  t.match((await status(app, 'Tcp')).health_details, {
    probe: 'tcp',
    host: '127.0.0.1',
    port: ofEnvironment,
    ports: [used, usedForWeb, ofEnvironment],
  });
  await accept(ofEnvironment);
  await until(async () => (await status(app, 'Tcp')).health_status === 'healthy', { what: 'all ports to be found' });
  closeFirst();
  await refuses(used);
});

t.test('probes of plugins may require a marker or a key in the answer', async t => {
  const dir = testDir(t, {});
  const folder = path.join(dir, 'probes');
  await mkdir(folder);
  await writeFile(
    path.join(folder, 'index.mjs'),
    `export default { name: 'probes', host: '^1', setup(host) {
      host.contribute('process.probe', 'marked', { configKey: 'marked', path: '/marked', portKey: 'probe_port', marker: '<MediaContainer' })
      host.contribute('process.probe', 'unmarked', { configKey: 'unmarked', path: '/plain', portKey: 'probe_port', marker: '<MediaContainer' })
      host.contribute('process.probe', 'keyed', { configKey: 'keyed', path: '/keyed', portKey: 'probe_port', jsonKey: 'version' })
      host.contribute('process.probe', 'unkeyed', { configKey: 'unkeyed', path: '/unkeyed', portKey: 'probe_port', jsonKey: 'version' })
      host.contribute('process.probe', 'starting', { configKey: 'starting', path: '/starting', portKey: 'probe_port', jsonKey: 'version' })
      host.contribute('process.probe', 'own', { configKey: 'own', path: '/missing', portKey: 'probe_port' })
      host.contribute('process.probe', 'portless', { configKey: 'portless', path: '/missing' })
    } }`,
  );
  const bodies: Record<string, string> = {
    '/marked': '<?xml version="1.0"?><MediaContainer size="0"/>',
    '/plain': '<html>',
    '/keyed': '{"version":"1.2.3"}',
    '/unkeyed': '{"status":"ok"}',
    '/starting': '{"status":"starting"}',
  };
  const probePort = await listen(t, (request, response) => {
    const body = bodies[String(request.url)];
    response.writeHead(body === undefined ? 500 : 200).end(body);
  });
  const names = ['marked', 'unmarked', 'keyed', 'unkeyed', 'starting', 'own', 'portless'];
  const more: Record<string, object> = {
    own: { probe_port: probePort, health: { path: '/plain', port: probePort } },
    portless: {},
  };
  const app = await startHost({
    plugins: ['config', 'process', 'health-probe', 'probes'],
    pluginDirs: [pluginsDir, dir],
    config: Object.fromEntries(names.map(name => [name, sleeper(name, more[name] ?? { probe_port: probePort })])),
  });
  t.teardown(() => app.stop());
  await Promise.all(names.map(name => start(app, name)));
  const otherwise = { health_status: 'degraded', health_reason: /answers something else than expected/ };
  t.match(await probed(app, 'marked'), { health_status: 'healthy', health_reason: null });
  t.match(await probed(app, 'unmarked'), otherwise);
  t.match(await probed(app, 'keyed'), { health_status: 'healthy' });
  t.match(await probed(app, 'unkeyed'), otherwise, 'a good word does not stand for the missing key');
  t.match(await probed(app, 'starting'), { health_status: 'starting' });
  t.match(await probed(app, 'own'), { health_status: 'healthy' }, 'the address of the block itself comes first');
  t.match(await probed(app, 'portless'), { health_status: 'healthy', health_details: { probe: 'process' } });

  const health = { path: '/missing', port: probePort };
  await app.post('/config', { updates: { portless: { health } }, persist: false });
  const asked = () => until(async () => (await status(app, 'portless')).health_status === 'unhealthy');
  t.ok(await asked(), 'what the block says of its health since then is asked');
  await writeFile(
    path.join(folder, 'index.mjs'),
    `export default { name: 'probes', host: '^1', setup(host) {
      host.contribute('process.probe', 'unmarked', { configKey: 'unmarked', path: '/plain', portKey: 'probe_port' })
    } }`,
  );
  const other = () => until(async () => (await status(app, 'unmarked')).health_status === 'healthy');
  t.ok(await other(), 'a probe that another replaces is asked no more');
});

t.test('plugins are told of changed reports, not of each report', async t => {
  const dir = testDir(t, {});
  const folder = path.join(dir, 'listener');
  await mkdir(folder);
  await writeFile(
    path.join(folder, 'index.mjs'),
    `export default { name: 'listener', host: '^1', needs: ['process', 'health-probe'], setup(host) {
      const told = []
      host.tap('process.probed', ({ processName, wasReady }, { status }) => { if (wasReady) told.push(processName + ' ' + status) })
      host.route({ method: 'GET', path: '/told', summary: 'x', handle: () => ({ told }) })
    } }`,
  );
  const served = { asked: 0, body: '{"status":"ok"}' };
  const port = await listen(t, (_request, response) => {
    served.asked += 1;
    response.end(served.body);
  });
  const app = await startHost({
    plugins: ['config', 'process', 'health-probe', 'listener'],
    pluginDirs: [pluginsDir, dir],
    config: { asked: sleeper('Asked', { health: { path: '/', port } }), unasked: sleeper('Unasked', {}) },
  });
  t.teardown(() => app.stop());
  await Promise.all([start(app, 'Asked'), start(app, 'Unasked')]);
  const wasAsked = async (times: number) => {
    const before = served.asked;
    await until(() => served.asked >= before + times, { what: `${times} more probes` });
  };
  const says = (health: string) =>
    until(async () => (await status(app, 'Asked')).health_status === health, { what: `it to be ${health}` });
  await says('healthy');
  await wasAsked(3);
  served.body = '{"status":"down"}';
  await says('unhealthy');
  await wasAsked(3);
  served.body = '{"status":"ok"}';
  await says('healthy');
  const { told } = (await app.get('/told')).body as { told: string[] };
  t.same(
    told.filter(line => line !== 'Unasked healthy'),
    ['Asked unhealthy', 'Asked healthy'],
  );
  t.ok(told.length <= 3, 'one that is asked for nothing is not told of again and again');
});
