// Line 4: while nobody must log in, a caller leads the rights of the host nowhere: neither its own directories nor
// files that the services could not open themselves.
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { asOwner, startHost } from '../support/host.ts';
import { kid, start, stop } from '../support/kids.ts';
import { NOBODY, ROOT_ONLY } from '../support/race.ts';

const PLUGINS = [
  'auth',
  'config',
  'process',
  'logs',
  'config-files',
  'format-yaml',
  'gateway',
  'metrics-history',
  'installs',
];
const changes: Record<string, Record<string, unknown>> = {
  'dumb.log_dir': { dumb: { log_dir: '/etc/profile.d' } },
  'dumb.plugins.dirs': { dumb: { plugins: { dirs: ['/opt/plugins'] } } },
  'dumb.api_service.file_roots': { dumb: { api_service: { file_roots: ['/srv'] } } },
  'dumb.gateway.static_dir': { dumb: { gateway: { static_dir: '/srv' } } },
  'dumb.metrics.history_dir': { dumb: { metrics: { history_dir: '/srv' } } },
  'dumb.metrics.storage.sqlite_path': { dumb: { metrics: { storage: { sqlite_path: '/srv/other.sqlite' } } } },
  'dumb.install_mirrors.repo.example.org': { dumb: { install_mirrors: { 'repo.example.org': 'http://127.0.0.1' } } },
  data_root: { data_root: '/srv' },
  puid: { puid: 1 },
  pgid: { pgid: 6 },
};

t.test('what says where and as whom the host works is changed by users who log in, and in the file', async t => {
  const app = await startHost({ plugins: PLUGINS, config: { dumb: { gateway: { enabled: false } } } });
  t.teardown(() => app.stop());
  const file = path.join(app.configDir, 'stackwarden.json');
  const before = await readFile(file, 'utf8');
  for (const [place, updates] of Object.entries(changes))
    for (const persist of [true, false]) {
      const answer = await app.post('/config', { updates, persist });
      t.match(answer, { status: 403 }, place);
      t.equal(
        answer.body.detail,
        `${place} cannot be changed while authentication is off; switch it on and log in, or change it in ${file}`,
      );
    }
  t.equal(await readFile(file, 'utf8'), before);
  const whole = (await app.get('/config')).body;
  t.equal((await app.post('/config', { updates: whole, persist: false })).status, 200, 'what stays is sent along');

  const owner = await asOwner(app);
  const answer = await owner.post('/config', { updates: changes['dumb.log_dir'], persist: false });
  t.equal(answer.status, 200, answer.text);
});

t.test('where logs may lie is kept without the plugin that opens configuration files, too', async t => {
  const app = await startHost({ plugins: ['auth', 'config', 'process', 'logs'] });
  t.teardown(() => app.stop());
  const updates = changes['dumb.api_service.file_roots'];
  t.match(await app.post('/config', { updates, persist: false }), { status: 403 });
  const owner = await asOwner(app);
  t.match(await owner.post('/config', { updates, persist: false }), { status: 200, body: { warnings: [] } });
});

t.test('no file of root becomes that of a service', ROOT_ONLY, async t => {
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-open-'));
  t.teardown(() => rm(dir, { recursive: true }));
  await chmod(dir, 0o755);
  const at = (...parts: string[]) => path.join(dir, ...parts);
  for (const place of ['own', 'closed', 'shown']) await mkdir(at(place));
  await chown(at('own'), NOBODY, NOBODY);
  for (const place of ['own/a.yaml', 'closed/a.yaml', 'closed/a.log', 'shown/a.yaml'])
    await writeFile(at(place), 'secret: 1\n');
  await chown(at('own/a.yaml'), NOBODY, NOBODY);
  await chmod(at('closed'), 0o700);
  let app = await startHost({ plugins: PLUGINS, config: { app: kid('App', ['calm'], { config_dir: at('own') }) } });
  t.teardown(() => app.stop());
  const point = (place: string, file: string, config_file = at(place, file)) =>
    app.post('/config', { process_name: 'App', updates: { config_dir: at(place), config_file } });
  for (const [place, file] of [
    ['closed', 'a.yaml'],
    ['closed', 'new.yaml'],
    ['shown', 'a.yaml'],
    ['shown', 'new.yaml'],
  ] as const) {
    const answer = await point(place, file);
    t.match(answer, { status: 403, body: { detail: /user 65534 may not read and write it; give it to that user/ } });
    t.equal((await point(place, file, ` "${at(place, file)}"`)).status, 403, 'in quotes');
    const made = { process_name: 'Made', command: ['true'], config_dir: at(place), config_file: at(place, file) };
    t.equal((await app.post('/config', { updates: { made } })).status, 403);
  }
  for (const [place, file] of [
    ['own', 'a.yaml'],
    ['own', 'new.yaml'],
    ['own/missing/deep', 'new.yaml'],
  ] as const)
    t.equal((await point(place, file)).status, 200, `${place}/${file}`);
  await app.stop();

  const log = { config_dir: at('closed'), log_file: at('closed', 'a.log') };
  app = await startHost({ plugins: PLUGINS, config: { app: kid('App', ['calm'], log) } });
  t.match(await app.get('/logs?process_name=App'), { status: 200, body: { chunk: '' } }, 'its directory is closed');
});

t.test('root makes nothing for a service where the service could not', ROOT_ONLY, async t => {
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-open-'));
  t.teardown(() => rm(dir, { recursive: true }));
  await chmod(dir, 0o755);
  const at = (...parts: string[]) => path.join(dir, ...parts);
  for (const place of ['own', 'foreign', 'data']) await mkdir(at(place));
  await chown(at('own'), NOBODY, NOBODY);
  await symlink(at('foreign'), at('own', 'way'));
  const usual = { enabled: false, config_dir: at('own', 'usual', 'player'), library: at('own', 'usual', 'library') };
  const configDir = at('config');
  await mkdir(path.join(configDir, 'templates/services'), { recursive: true });
  const template = {
    key: 'player',
    displayName: 'Player',
    kind: 'optional',
    description: 'A service.',
    links: {},
    stop: { tier: 2 },
    launch: {},
    block: { process_name: 'Player', command: ['sleep', '600'], suppress_logging: true, ...usual },
    setup: { directories: ['{library}/films'], files: [{ path: '{config_dir}/player.json', seed: '{}' }] },
  };
  await writeFile(path.join(configDir, 'templates/services/player.json'), JSON.stringify(template));
  const app = await startHost({
    plugins: ['auth', 'config', 'process', 'config-files', 'format-json', 'services', 'setup'],
    configDir,
    config: { data_root: at('data'), dumb: { gateway: { enabled: false } } },
  });
  t.teardown(() => app.stop());
  const move = (updates: object) => app.post('/config', { process_name: 'Player', updates });
  for (const place of ['foreign', 'foreign/new', 'own/way', 'own/way/new', 'new', 'config/supervisor', 'config'])
    for (const option of ['config_dir', 'library']) {
      const answer = await move({ [option]: at(place) });
      t.match(answer, { status: 403, body: { detail: /user 65534 may not read and write it; give it/ } }, place);
      t.match(answer.body.detail, `${option} of Player cannot become ${at(place)} while authentication is off`);
    }
  for (const place of ['own', 'own/usual/second', 'own/new/deep', 'data/player', 'config/services/player'])
    t.equal((await move({ config_dir: at(place), library: at(place) })).status, 200, place);
  t.equal((await start(app, 'Player')).status, 200);
  t.equal(await readFile(at('config/services/player/player.json'), 'utf8'), '{}');
  await stop(app, 'Player');

  const owner = await asOwner(app);
  const answer = await owner.post('/config', { process_name: 'Player', updates: { config_dir: at('foreign') } });
  t.equal(answer.status, 200, answer.text);
  t.same(await readdir(at('foreign')), []);
});

t.test('nothing is mounted where it would hide what is not the service’s', ROOT_ONLY, async t => {
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-open-'));
  t.teardown(() => rm(dir, { recursive: true }));
  await chmod(dir, 0o755);
  await mkdir(path.join(dir, 'foreign'));
  await mkdir(path.join(dir, 'own'));
  await chown(path.join(dir, 'own'), NOBODY, NOBODY);
  const app = await startHost({
    plugins: ['config', 'process', 'config-files', 'services', 'service-rclone', 'service-postgres'],
    config: { rclone: { instances: { RealDebrid: { process_name: 'films', command: ['true'] } } }, postgres: {} },
  });
  t.teardown(() => app.stop());
  const change = (process_name: string, updates: object) => app.post('/config', { process_name, updates });
  for (const updates of [
    { mount_dir: dir, mount_name: 'foreign' },
    { mount_dir: path.join(dir, 'own'), mount_name: '../foreign' },
    { mount_name: '../../var/spool' },
    { cache_dir: path.join(dir, 'foreign') },
  ])
    t.match(await change('films', updates), { status: 403, body: { detail: /may not read and write it; give it/ } });
  const elsewhere = await change('PostgreSQL', { run_directory: path.join(dir, 'foreign', 'run') });
  t.equal(elsewhere.status, 403, elsewhere.text);
  for (const updates of [
    { mount_dir: '/mnt/remote', mount_name: 'films' },
    { mount_dir: path.join(dir, 'own'), mount_name: 'films', cache_dir: path.join(dir, 'own') },
  ])
    t.equal((await change('films', updates)).status, 200);
});
