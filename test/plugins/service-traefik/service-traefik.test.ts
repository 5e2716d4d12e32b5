// The switch of the reverse proxy, and its files.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { changeMainFile } from '../../support/host-config.ts';
import { restart, start } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const isHere = ['service-ui', 'service-traefik'].every(name =>
  existsSync(new URL(`../../../plugins/${name}/index.ts`, import.meta.url)),
);

const PLUGINS = [
  'services',
  'setup',
  'service-traefik',
  'service-ui',
  'config-files',
  'format-yaml',
  'config',
  'process',
];

t.test('the switch starts the proxy and writes its files', { skip: !isHere }, async t => {
  const dir = testDir(t, {});
  const proxy = { config_dir: dir, config_file: path.join(dir, 'traefik.yml') };
  const app = await startHost({
    config: {
      puid: 65_534,
      traefik: {
        ...proxy,
        command: ['/nowhere/traefik'],
        entrypoints: { extra: { address: ':1' } },
        log_level: 'warning',
      },
      plex: { enabled: true },
      jellyfin: { enabled: true },
    },
    plugins: PLUGINS,
  });
  t.teardown(() => app.stop());
  await until(async () => (await app.get('/process/startup-status')).body.phase !== 'initializing');
  const saved = async () => JSON.parse(await readFile(path.join(app.configDir, 'stackwarden.json'), 'utf8'));
  t.match(await app.post('/config/service-ui', { enabled: true }), {
    status: 200,
    body: {
      enabled: true,
      proxy_state: 'stopped',
      proxy_error: null,
      proxy_config: path.join(dir, 'dynamic/services.yaml'),
    },
  });
  t.match(await app.get('/config/service-ui'), { body: { enabled: true } });
  t.not((await saved()).traefik.enabled, true, 'a program that is missing is not to be started at each boot');
  t.match(await app.post('/config/service-ui', { enabled: false }), {
    body: { enabled: false, proxy_state: 'stopped' },
  });
  t.match(await app.get('/config/service-ui'), { body: { enabled: false } });
  t.equal((await app.post('/config/service-ui', { enabled: 'maybe' })).status, 422);

  await writeFile(path.join(dir, 'services.yaml'), 'left over');
  await app.post('/config', { process_name: 'Traefik', updates: { command: ['sleep', '600'] } });
  t.match(await app.post('/config/service-ui', {}), { body: { enabled: true, proxy_error: null } });
  t.equal((await saved()).traefik.enabled, true);
  await until(() => ['dynamic/services.yaml', 'traefik.yml'].every(name => existsSync(path.join(dir, name))));
  const fixed = parse(await readFile(path.join(dir, 'traefik.yml'), 'utf8'));
  t.match(fixed, {
    entryPoints: { web: { address: ':18080' }, extra: { address: ':1' }, traefik: { address: '127.0.0.1:18081' } },
    log: { level: 'WARN' },
    providers: { file: { directory: path.join(dir, 'dynamic'), watch: true } },
  });
  await until(() => !existsSync(path.join(dir, 'services.yaml')), { what: 'the file of an earlier version to go' });
  const { http } = parse(await readFile(path.join(dir, 'dynamic/services.yaml'), 'utf8'));
  t.match(http.routers.plex_router, {
    rule: 'Path(`/service/ui/plex`) || PathPrefix(`/service/ui/plex/`)',
    service: 'plex_service',
    middlewares: ['plex_strip', 'plex_replace', 'ui_frame_headers'],
  });
  t.same(http.services.plex_service, { loadBalancer: { servers: [{ url: 'http://127.0.0.1:32400' }] } });
  t.same(http.middlewares.plex_replace, { replacePathRegex: { regex: '^/?$', replacement: '/web/index.html' } });
  t.ok(http.middlewares.jellyfin_web_dirs);
  t.match(http.routers, { traefik_router: { service: 'api@internal' }, traefik_api_router: { priority: 1000 } });

  const outside = path.join(dir, '..', 'outside', 'traefik.yml');
  await changeMainFile(app.configDir, config => ({
    ...config,
    traefik: { ...(config.traefik as object), config_file: outside },
  }));
  await until(async () => (await app.get('/config')).body.traefik.config_file === outside);
  await app.post('/config/service-ui', { enabled: false });
  const refused = await until(async () => {
    const { body } = await app.post('/config/service-ui', {});
    return body.proxy_state === 'error' && body;
  });
  t.match(refused.proxy_error, /lies outside the directories of Traefik/);
  t.notOk(existsSync(outside), 'a generated file lies where files of the service may lie, or nowhere');
});

t.test('a start that the switch itself cancels is no error of the stop', { skip: !isHere }, async t => {
  const dir = testDir(t, {});
  const place = { config_dir: dir, config_file: path.join(dir, 'traefik.yml') };
  const waits = { wait_for_tcp: [{ host: '127.0.0.1', port: await freePort() }] };
  const app = await startHost({
    config: { puid: 65_534, traefik: { ...place, ...waits, command: ['sleep', '600'] } },
    plugins: PLUGINS,
  });
  t.teardown(() => app.stop());
  t.match((await app.post('/config/service-ui', { enabled: true })).body, { proxy_state: 'starting' });
  const { body } = await app.post('/config/service-ui', { enabled: false });
  t.match(body, { enabled: false, proxy_state: 'stopped', proxy_error: null });
});

t.test('the API has no route while authentication is off', { skip: !isHere }, async t => {
  const dir = testDir(t, {});
  const plex = path.join(dir, 'plex');
  const app = await startHost({
    config: {
      puid: 65_534,
      traefik: { command: ['sleep', '600'], config_dir: dir, config_file: path.join(dir, 'traefik.yml') },
      plex: {
        enabled: true,
        command: ['sleep', '600'],
        config_dir: plex,
        config_file: path.join(plex, 'Preferences.xml'),
        log_file: path.join(plex, 'plex.log'),
      },
    },
    plugins: [...PLUGINS, 'auth'],
  });
  t.teardown(() => app.stop());
  const hasApiRoute = async () => {
    const { http } = parse(await readFile(path.join(dir, 'dynamic/services.yaml'), 'utf8'));
    t.ok(http.routers.plex_router, 'others have theirs');
    return JSON.stringify(http).includes('dumb_api_service');
  };
  const warning = /^DUMB API gets no route \/service\/ui\/dumb_api_service .*while authentication is off.*switch auth/;
  const told = async () => (await ownLog(app)).filter(line => line.includes('gets no route')).length;

  t.match((await app.post('/config/service-ui', { enabled: false })).body, { warnings: [] });
  t.match((await app.post('/config/service-ui', {})).body, { enabled: true, warnings: [warning] });
  await until(() => existsSync(path.join(dir, 'dynamic/services.yaml')));
  t.notOk(await hasApiRoute());
  await app.post('/config', { updates: { plex: { port: 32_401 } }, persist: false });
  await until(async () => (await readFile(path.join(dir, 'dynamic/services.yaml'), 'utf8')).includes('32401'));
  await until(async () => (await told()) === 1);

  const { body } = await app.post('/auth/setup', { username: 'first', password: 'correct horse' });
  const mine = { authorization: `Bearer ${body.access_token}` };
  await until(hasApiRoute, { what: 'the route to come with authentication' });
  t.match((await app.post('/config/service-ui', {}, mine)).body, { warnings: [] });
  t.equal((await app.post('/auth/disable', undefined, mine)).status, 200);
  await until(async () => !(await hasApiRoute()), { what: 'the route to go with authentication' });
  await until(async () => (await told()) === 2, { what: 'one line each time, however often the routes are made' });
});

t.test('a proxy started by hand has routes of services started by hand', { skip: !isHere }, async t => {
  const dir = testDir(t, {});
  const service = { enabled: false, command: ['sleep', '600'], config_dir: dir, stop_grace_seconds: 1 };
  const app = await startHost({
    config: {
      traefik: { ...service, config_file: path.join(dir, 'traefik.yml') },
      web: { ...service, process_name: 'Web', port: 12_345, ui: true, host: '::1' },
    },
    plugins: PLUGINS,
  });
  t.teardown(() => app.stop());
  t.match(await start(app, 'Traefik'), { status: 200 });
  const routes = () => readFile(path.join(dir, 'dynamic/services.yaml'), 'utf8');
  t.notMatch(await routes(), /web_service/);
  t.match(await start(app, 'Web'), { status: 200 });
  await until(async () => (await routes()).includes('web_service'));
  t.match(await routes(), 'url: http://[::1]:12345', 'an address of IPv6 has brackets in a URL');
});

t.test('the entry point for the web keeps the address that people gave', { skip: !isHere }, async t => {
  const dir = testDir(t, {});
  const port = await freePort();
  const app = await startHost({
    config: {
      puid: 65_534,
      traefik: { command: ['sleep', '600'], config_dir: dir, config_file: path.join(dir, 'traefik.yml'), port },
    },
    plugins: [...PLUGINS, 'health-probe', 'health'],
  });
  t.teardown(() => app.stop());
  const at = async (address: string): Promise<string> => {
    const updates = { entrypoints: { web: { address } } };
    t.equal((await app.post('/config', { process_name: 'Traefik', updates })).status, 200);
    t.equal((await restart(app, 'Traefik')).status, 200);
    return parse(await readFile(path.join(dir, 'traefik.yml'), 'utf8')).entryPoints.web.address;
  };
  t.equal(await at('127.0.0.1:18080'), `127.0.0.1:${port}`);
  t.equal(await at('[::1]:18080/tcp'), `[::1]:${port}/tcp`);
  t.equal(await at('127.0.0.1'), `127.0.0.1:${port}`);
  for (const everywhere of [':18080', '18080', '']) t.equal(await at(everywhere), `:${port}`);

  t.equal(await at('127.0.0.2:18080'), `127.0.0.2:${port}`);
  const server = createServer(socket => socket.destroy()).listen(port, '127.0.0.2');
  t.teardown(() => server.close());
  const health = async () =>
    (await app.get('/process/service-status?process_name=Traefik&include_health=true')).body.health_status;
  await until(async () => (await health()) === 'healthy', { what: 'it to be asked where it listens' });
});
