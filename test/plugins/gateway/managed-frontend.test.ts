// The gateway beside a web frontend that is a process of its own: which of them has the port, and how the frontend
// reaches the web interfaces of services.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost, type TestHost } from '../../support/host.ts';
import { pidOf, start, status, stop } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = !['gateway', 'service-ui', 'service-dumb-frontend'].every(name => existsSync(path.join(pluginsDir, name)));
const NAME = 'DUMB Frontend';
const PLUGINS = ['gateway', 'config', 'process', 'services', 'service-dumb-frontend', 'service-ui', 'auth'];
const HTML = { accept: 'text/html' };
/** A service that answers with what it was asked, and forbids frames. */
const ECHO = `require('node:http').createServer((request, response) => {
  response.setHeader('Content-Security-Policy', "default-src 'self'; frame-ancestors 'none'")
  if (request.url === '/away') response.writeHead(302, { Location: '/login' })
  response.end(JSON.stringify({ url: request.url, headers: request.headers }))
}).listen(process.argv[1], '127.0.0.1')`;
const support = (name: string) => fileURLToPath(new URL(`../../support/${name}`, import.meta.url));

interface Opened {
  readonly app: TestHost;
  readonly port: number;
  readonly config: Record<string, unknown>;
  page(path?: string): Promise<{ status: number; text: string } | null>;
}

interface Asked {
  readonly url: string;
  readonly headers: Record<string, string>;
}

async function open(
  t: Test,
  frontend: Record<string, unknown>,
  more: Record<string, unknown> = {},
  takenPort?: number,
): Promise<Opened> {
  const [apiPort, port, uiPort] = [await freePort(), await freePort(), takenPort ?? (await freePort())];
  const dir = testDir(t, {});
  await chmod(dir, 0o755);
  for (const name of ['frontend-app.cjs', 'frontend-page.html']) await copyFile(support(name), path.join(dir, name));
  await mkdir(path.join(dir, 'config'));
  const config = {
    puid: 65_534,
    pgid: 65_534,
    dumb: {
      startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 },
      log_dir: path.join(dir, 'config', 'log'),
      api_service: { port: apiPort },
      gateway: { enabled: true, port, ui_port: uiPort },
      frontend: {
        host: '127.0.0.1',
        port,
        config_dir: dir,
        command: [process.execPath, path.join(dir, 'frontend-app.cjs')],
        log_file: 'frontend.log',
        ...frontend,
      },
    },
    ...more,
  };
  const app = await startHost({
    plugins: PLUGINS,
    listen: { port: apiPort },
    configDir: path.join(dir, 'config'),
    config,
  });
  t.teardown(() => app.stop());
  const page = async (path = '/') => {
    // A kept connection would be closed by the previous owner of the port, maybe just when it is used again.
    const headers = { ...HTML, connection: 'close' };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers }).catch(() => null);
    return answer === null ? null : { status: answer.status, text: await answer.text() };
  };
  return { app, port, config, page };
}

const isFrontend = (shown: { text: string } | null) => shown?.text.includes('<title>Frontend</title>') === true;

t.test('a frontend that is enabled but absent leaves the port to the gateway', { skip }, async t => {
  const { app, page, port } = await open(t, { enabled: true, command: ['/nonexistent/frontend'] });
  await until(async () => (await app.get('/process/startup-status')).body.terminal);
  const shown = await until(() => page('/services/Films'));
  t.match(shown, { status: 503, text: /becomes DUMB Frontend as soon as/ });
  const [, inside = ''] = /<script>(.*)<\/script>/s.exec(shown.text) ?? [];
  const policy = (await fetch(`http://127.0.0.1:${port}/`, { headers: HTML })).headers.get('content-security-policy');
  t.ok(policy?.includes(`'sha256-${createHash('sha256').update(inside).digest('base64')}'`), 'it goes on by itself');
  t.match(shown.text, /<noscript><meta http-equiv="refresh"/, 'without scripts too');
  const script = await fetch(`http://127.0.0.1:${port}/app.js`);
  t.match([script.status, await script.json()], [503, { detail: 'DUMB Frontend is not running at present' }]);
  t.equal((await page('/api/process/capabilities'))?.status, 200);
  await stop(app, NAME);
  await until(async () => (await page())?.text.includes('Stackwarden is running'), { what: 'what it is without one' });
});

t.test('a frontend that is enabled at run time takes the port, and gives it back', { skip }, async t => {
  const { app, page, port } = await open(t, { enabled: false });
  t.match(await until(() => page()), { status: 200, text: /Stackwarden is running/ });
  await app.post('/config', { process_name: NAME, updates: { enabled: true }, persist: true });
  const started = await fetch(`http://127.0.0.1:${port}/api/process/start-service`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ process_name: NAME }),
  });
  t.match(await started.json(), { status: 'Service started successfully' }, 'answered to its end by the gateway');
  t.equal(started.headers.get('connection'), 'close', 'so that nobody sends the next request into its end');
  await until(async () => isFrontend(await page()));
  t.equal((await page('/api/process/capabilities'))?.status, 200, 'through the frontend');

  process.kill(await pidOf(app, NAME), 'SIGKILL');
  await until(async () => (await page())?.text.includes('becomes DUMB Frontend'), { what: 'the page after a crash' });
  t.equal((await start(app, NAME)).status, 200);
  await until(async () => isFrontend(await page()));

  t.match(await stop(app, NAME), { status: 200, body: { status: 'Service is being stopped' } });
  await until(async () => (await page())?.text.includes('Stackwarden is running'));
  await until(async () => (await status(app, NAME)).status === 'stopped');
});

t.test('the port is free before the frontend is launched', { skip }, async t => {
  const [apiPort, port] = [await freePort(), await freePort()];
  // Right after the launch, when the fastest program could ask for its port.
  const setup = `host.tap('process.launched', () => new Promise(resolve => {
    const server = createServer()
    server.once('error', error => resolve(host.log.info('the port is taken: ' + error.code)))
    server.listen(${port}, '127.0.0.1', () => server.close(() => resolve(host.log.info('the port is free'))))
  }))`;
  const index = `import { createServer } from 'node:net'
    export default { name: 'looker', host: '^1', setup (host) { ${setup} } }`;
  const app = await startHost({
    plugins: [...PLUGINS, 'looker'],
    pluginDirs: [pluginsDir, testDir(t, { looker: { 'index.js': index } })],
    listen: { port: apiPort },
    config: {
      dumb: {
        gateway: { enabled: true, port, ui_port: await freePort() },
        frontend: { host: '127.0.0.1', port, command: ['sleep', '600'], config_dir: '/' },
      },
    },
  });
  t.teardown(() => app.stop());
  await until(async () => (await ownLog(app)).some(line => line.includes('gateway on http')));
  const started = start(app, NAME);
  const told = await until(async () => (await ownLog(app)).find(line => line.includes('the port is')));
  t.match(told, /the port is free$/);
  await started;
});

t.test('another program on the port of the frontend is not taken for it', { skip }, async t => {
  const { app, page, port } = await open(t, { enabled: false });
  await until(() => page());
  await app.post('/config', { updates: { dumb: { frontend: { host: '127.0.0.2' } } }, persist: true });
  const program = `require('http').createServer((q, s) => s.end('foreign')).listen(${port}, '127.0.0.2', () => console.log('here'))`;
  const foreign = spawn(process.execPath, ['-e', program]);
  t.teardown(() => foreign.kill());
  await once(foreign.stdout, 'data');
  const refused = await start(app, NAME);
  t.equal(refused.status, 409);
  t.equal(
    refused.body.detail,
    `DUMB Frontend cannot start: port ${port} is in use by node (pid ${foreign.pid}); end that, or choose another port in dumb.frontend.port`,
  );
  t.match(await page(), { status: 200, text: /Stackwarden is running/ }, 'the gateway goes on at its own address');
  foreign.kill();
  await once(foreign, 'exit');
  t.equal((await start(app, NAME)).status, 200);
});

t.test(
  'a frontend that is given another port leaves this one to the gateway, without a complaint',
  { skip },
  async t => {
    const { app, page } = await open(t, { enabled: true });
    await until(async () => isFrontend(await page()));
    const other = await freePort();
    await app.post('/config', { process_name: NAME, updates: { port: other }, persist: true });
    await app.post('/process/restart-service', { process_name: NAME });
    await until(async () => (await page())?.text.includes('Stackwarden is running'));
    await until(async () => (await status(app, NAME)).status === 'running');
    t.same(
      (await ownLog(app)).filter(line => line.includes('no gateway')),
      [],
    );
  },
);

t.test('a restart that comes through the frontend is answered', { skip }, async t => {
  const { app, page, port } = await open(t, { enabled: true });
  await until(async () => isFrontend(await page()));
  const before = await pidOf(app, NAME);
  const answer = await fetch(`http://127.0.0.1:${port}/api/process/restart-service`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ process_name: NAME }),
  });
  t.match([answer.status, await answer.json()], [200, { status: 'Service is being restarted', process_name: NAME }]);
  await until(async () => (await status(app, NAME)).status === 'running' && (await pidOf(app, NAME)) !== before);
  await until(async () => isFrontend(await page()));
  const env = await readFile(`/proc/${await pidOf(app, NAME)}/environ`, 'utf8');
  t.ok(env.split('\0').includes('NITRO_SHUTDOWN_TIMEOUT=2000'), 'it waits no longer for connections that stay open');

  await app.post('/config', { process_name: NAME, updates: { port: await freePort() } });
  await app.post('/process/restart-service', { process_name: NAME });
  await until(async () => (await page())?.text.includes('Stackwarden is running'), { what: 'the port it has left' });
});

t.test('the frontend gets the web interfaces of services as from a reverse proxy', { skip }, async t => {
  const [jellyfinPort, filmsPort] = [await freePort(), await freePort()];
  const echo = (port: number) => ({
    enabled: true,
    command: [process.execPath, '-e', ECHO, String(port)],
    port,
    stop_grace_seconds: 1,
  });
  const { app, config, page } = await open(
    t,
    { enabled: true },
    {
      jellyfin: { ...echo(jellyfinPort), config_dir: '/tmp' },
      films: { ...echo(filmsPort), process_name: 'Films', ui: true },
    },
  );
  await until(async () => (await app.get('/process/startup-status')).body.terminal);
  await until(async () => isFrontend(await page()));
  const pid = await pidOf(app, NAME);
  const variables = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0');
  const address = variables.find(line => line.startsWith('DMB_TRAEFIK_URL='))?.slice('DMB_TRAEFIK_URL='.length);
  const get = (place: string, headers = {}) => fetch(`${address}${place}`, { headers, redirect: 'manual' });
  const asked = async (place: string, headers = {}) => (await (await get(place, headers)).json()) as Asked;
  t.match(address, /^http:\/\/127\.0\.0\.1:\d+$/);

  await until(async () => (await get('/service/ui/jellyfin/')).ok && (await get('/service/ui/films/')).ok);
  t.equal((await asked('/service/ui/jellyfin/')).url, '/web/index.html');
  t.equal((await asked('/service/ui/jellyfin/themes/dark.css?a=1')).url, '/web/themes/dark.css?a=1');
  t.equal((await asked('/service/ui/jellyfin/System/Info')).url, '/System/Info');
  const away = await get('/service/ui/films/away');
  t.match(Object.fromEntries(away.headers), {
    location: '/login',
    'x-frame-options': 'SAMEORIGIN',
    'content-security-policy': "default-src 'self'; frame-ancestors 'self'",
  });
  t.same(away.headers.getSetCookie(), [], 'cookies and redirects are left to the frontend');
  t.equal((await asked('/service/ui/films/')).headers['x-forwarded-prefix'], '/service/ui/films');
  t.equal(
    (await asked('/asked.js', { referer: 'http://somewhere:3005/ui/films/' })).url,
    '/asked.js',
    'what a page asks for at the root',
  );
  t.equal((await get('/asked.js')).status, 404);
  t.equal((await get('/service/ui/nobody/')).status, 404);
  t.equal((await get('/api/health')).status, 404, 'nothing but interfaces');

  const { body } = await app.post('/auth/setup', { username: 'keeper', password: 'a long password' });
  t.equal((await get('/service/ui/films/')).status, 404, 'where people log in, somebody must have switched them on');
  const bearer = { authorization: `Bearer ${body.access_token}` };
  t.match(await app.post('/config/service-ui', { enabled: true }, bearer), { body: { enabled: true } });
  const cookie = `a=b; token=${body.access_token}`;
  const { headers } = await asked('/service/ui/films/', { ...bearer, cookie });
  t.same([headers.cookie, headers.authorization], ['a=b', undefined], 'no token of the host is passed on');

  await app.host.stop('fault');
  const next = await startHost({
    plugins: PLUGINS,
    configDir: app.configDir,
    listen: { port: (config.dumb as { api_service: { port: number } }).api_service.port },
  });
  t.teardown(() => next.stop());
  await until(async () => (await get('/service/ui/films/').catch(() => null))?.status === 200);
  t.equal(await pidOf(next, NAME), pid, 'a frontend that outlives its host finds them at the same address');
});

t.test('a taken port for web interfaces is logged once, and another one is used', { skip }, async t => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => void other.close());
  const taken = (other.address() as AddressInfo).port;
  const { app, page } = await open(t, { enabled: true }, {}, taken);
  await until(async () => isFrontend(await page()));
  const variables = (await readFile(`/proc/${await pidOf(app, NAME)}/environ`, 'utf8')).split('\0');
  const address = variables.find(line => line.startsWith('DMB_TRAEFIK_URL='))?.slice('DMB_TRAEFIK_URL='.length);
  t.not(address, `http://127.0.0.1:${taken}`);
  t.equal((await fetch(`${address}/service/ui/nobody/`)).status, 404);
  const line = (await ownLog(app)).find(text => text.includes('dumb.gateway.ui_port'));
  t.match(line, /ui_port: Cannot listen on 127\.0\.0\.1:\d+: the port is in use by \S+ \(pid \d+\)$/);
});
