// Line 4: while nobody must log in, a caller leads the rights of the host nowhere: neither its own directories nor files
// that the services could not open themselves.
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { asOwner, startHost } from '../support/host.ts';
import { kid } from '../support/kids.ts';
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
  const app = await startHost({ plugins: PLUGINS, config: { app: kid('App', ['calm'], { config_dir: at('own') }) } });
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
    ['missing', 'new.yaml'],
  ] as const)
    t.equal((await point(place, file)).status, 200, `${place}/${file}`);

  const log = { config_dir: at('closed'), config_file: '', log_file: at('closed', 'a.log') };
  t.equal((await app.post('/config', { process_name: 'App', updates: log })).status, 200);
  t.match(await app.get('/logs?process_name=App'), { status: 200, body: { chunk: '' } }, 'its directory is closed');
});
