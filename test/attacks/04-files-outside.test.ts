// Line 4: neither the log routes nor the console of the gateway show a file that is none of a service's or the
// console's.
import { chmod, chown, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import { request } from 'undici';
import { startHost } from '../support/host.ts';
import { kid } from '../support/kids.ts';
import { ownLogText } from '../support/own-log.ts';
import { NOBODY, ROOT_ONLY } from '../support/race.ts';
import { freePort } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

async function directory(t: Test): Promise<string> {
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-files-'));
  t.teardown(() => rm(dir, { recursive: true }));
  await chmod(dir, 0o755);
  return dir;
}

t.test('a log_file outside the directories of its block is refused with the setting that helps', async t => {
  const dir = await directory(t);
  for (const name of ['own', 'outside']) await mkdir(path.join(dir, name));
  for (const name of ['own/app.log', 'outside/app.log']) await writeFile(path.join(dir, name), 'text\n');
  const block = (name: string, log_file: string, config_dir = path.join(dir, 'own')) =>
    kid(name, ['calm'], { config_dir, log_file });
  const app = await startHost({
    plugins: ['config', 'process', 'logs'],
    configDir: dir,
    config: {
      own: block('Own', path.join(dir, 'own', 'app.log')),
      outside: block('Outside', path.join(dir, 'outside', 'app.log')),
      climbing: block('Climbing', path.join(dir, 'own', '..', 'outside', 'app.log')),
      system: block('System', '/etc/passwd', '/etc'),
      everything: block('Everything', '/var/lib/dpkg/status', '/'),
      state: block('State', path.join(dir, 'stackwarden.json'), dir),
    },
  });
  t.teardown(() => app.stop());
  const log = (name: string) => app.get(`/logs?process_name=${name}`);
  t.match(await log('Own'), { status: 200, body: { chunk: 'text\n' } });
  for (const name of ['Outside', 'Climbing', 'System', 'Everything'])
    t.match(await log(name), { status: 403, body: { detail: /or name the directory in dumb.api_service.file_roots/ } });
  t.match(await log('State'), { status: 200, body: { chunk: '' } });
});

t.test('a log_file outside is refused at saving too, and what was there stays savable', async t => {
  const dir = await directory(t);
  for (const name of ['own', 'outside']) await mkdir(path.join(dir, name));
  const at = (place: string) => path.join(dir, place, 'app.log');
  const own = { config_dir: path.join(dir, 'own') };
  const app = await startHost({
    plugins: ['config', 'process', 'logs'],
    config: {
      app: kid('App', ['calm'], { ...own, log_file: at('own') }),
      odd: kid('Odd', ['calm'], { ...own, log_file: at('outside') }),
    },
  });
  t.teardown(() => app.stop());
  const refused = { status: 403, body: { detail: /or name the directory in dumb.api_service.file_roots/ } };
  const outside = { log_file: at('outside') };
  for (const persist of [true, false])
    for (const body of [
      { process_name: 'App', updates: outside, persist },
      { updates: { app: outside }, persist },
      { updates: { made: { ...kid('Made', ['calm']), ...outside } }, persist },
    ])
      t.match(await app.post('/config', body), refused);
  t.equal((await app.get('/config?process_name=App')).body.log_file, at('own'));
  t.equal((await app.post('/config', { process_name: 'Odd', updates: { enabled: false } })).status, 200);
  t.equal((await app.post('/config', { process_name: 'App', updates: { log_file: 'other.log' } })).status, 200);
  const file = path.join(app.configDir, 'stackwarden.json');
  const config = JSON.parse(await readFile(file, 'utf8'));
  const allowed = { ...config, dumb: { api_service: { file_roots: [path.join(dir, 'outside')] } } };
  await writeFile(file, JSON.stringify(allowed));
  const saved = await app.post('/config', { updates: { app: outside }, persist: true });
  t.equal(saved.status, 200, 'with the setting it is saved');
});

t.test('what the services could not read is not shown to them either', ROOT_ONLY, async t => {
  const dir = await directory(t);
  await writeFile(path.join(dir, 'app.log'), 'secret\n', { mode: 0o600 });
  const app = await startHost({
    plugins: ['config', 'process', 'logs'],
    config: { app: kid('App', ['calm'], { config_dir: dir, log_file: path.join(dir, 'app.log') }) },
  });
  t.teardown(() => app.stop());
  t.match(await app.get('/logs?process_name=App'), { status: 200, body: { chunk: '' } });
});

t.test('static_dir serves the console alone', async t => {
  const dir = await directory(t);
  const console = path.join(dir, 'console');
  await mkdir(console);
  await writeFile(path.join(dir, 'users.json'), '{"secret": true}');
  await writeFile(path.join(console, 'index.html'), 'console');
  await symlink(path.join(dir, 'users.json'), path.join(console, 'users.json'));
  await symlink(dir, path.join(console, 'up'));
  if (process.getuid?.() === 0) await chown(console, NOBODY, NOBODY);

  for (const [staticDir, page] of [
    [console, 'console'],
    [dir, 'Not found'],
    [path.dirname(dir), 'Not found'],
    [path.join(dir, 'log'), 'Not found'],
    ['/etc', 'Not found'],
    ['/', 'Not found'],
  ] as const) {
    const port = await freePort();
    const app = await startHost({
      plugins: ['gateway', 'logs'],
      configDir: dir,
      config: { dumb: { gateway: { port, static_dir: staticDir } } },
    });
    const get = async (name: string) => (await request(`http://127.0.0.1:${port}/${name}`)).body.text();
    await until(async () => (await get('')) !== '', { what: 'the gateway to answer' });
    t.match(await get('index.html'), page, staticDir);
    for (const name of ['users.json', 'up/users.json', 'passwd', 'etc/passwd', 'stackwarden.json'])
      t.match(await get(name), 'Not found', `${name} of ${staticDir}`);
    await app.host.stop();
    const text = await ownLogText(path.join(dir, 'log'));
    t.equal(text.includes('dumb.gateway.static_dir is not served: '), page !== 'console', staticDir);
    await rm(path.join(dir, 'log'), { recursive: true });
  }
});

t.test('static_dir serves no folder that holds the users', async t => {
  const dir = await directory(t);
  const folder = path.join(dir, 'folder');
  await mkdir(folder);
  for (const name of ['index.html', 'accounts.json', 'accounts.json.bak'])
    await writeFile(path.join(folder, name), 'content');
  t.teardown(() => {
    delete process.env.DUMB_AUTH_CONFIG_PATH;
  });
  for (const named of [
    path.join(folder, 'accounts.json'),
    path.relative(process.cwd(), path.join(folder, 'accounts.json')),
  ]) {
    process.env.DUMB_AUTH_CONFIG_PATH = named;
    const port = await freePort();
    const app = await startHost({
      plugins: ['gateway', 'logs'],
      configDir: dir,
      config: { dumb: { gateway: { port, static_dir: folder } } },
    });
    const get = async (name: string) => (await request(`http://127.0.0.1:${port}/${name}`)).body.text();
    await until(async () => (await get('')) !== '', { what: 'the gateway to answer' });
    for (const name of ['accounts.json', 'accounts.json.bak'])
      t.match(await get(name), 'Not found', `${name}: ${named}`);
    await app.host.stop();
    const fault = `dumb.gateway.static_dir is not served: ${folder} holds the state of Stackwarden itself`;
    t.match(await ownLogText(path.join(dir, 'log')), fault);
    await rm(path.join(dir, 'log'), { recursive: true });
  }
});
