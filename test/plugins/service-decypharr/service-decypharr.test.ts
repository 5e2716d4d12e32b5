// Decypharr's own file: managers are added and removed with their link, and what people wrote stays.
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { restart, start, status, stop } from '../../support/kids.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const arrApp = fileURLToPath(new URL('../../support/arr-app.cjs', import.meta.url));
const skip = !['service-decypharr', 'setup', 'service-arr', 'integrations'].every(name =>
  existsSync(path.join(pluginsDir, name)),
);

/** The template of the product, without the folders that it would create outside of the test's directory. */
const TEMPLATE = {
  key: 'decypharr',
  displayName: 'Decypharr',
  kind: 'core',
  description: 'A download bridge.',
  links: {},
  block: { enabled: false, process_name: 'Decypharr', command: ['sleep', '600'] },
  launch: {},
  setup: { files: [{ path: '{config_file}', seed: '{}\n', mode: 'private' }] },
  stop: { tier: 3 },
};

/** A configuration directory with the template above. */
async function configDirIn(dir: string): Promise<string> {
  const configDir = path.join(dir, 'config');
  await mkdir(path.join(configDir, 'templates/services'), { recursive: true });
  await writeFile(path.join(configDir, 'templates/services/decypharr.json'), JSON.stringify(TEMPLATE));
  return configDir;
}

t.test('entries of media managers come and go with their link', { skip }, async t => {
  const mine = { name: 'mine', host: 'http://nas:1', token: 'x' };
  const kept = { name: 'radarr:Default', host: 'http://old', token: 'old', source: 'auto', download_uncached: true };
  const gone = { name: 'lidarr:Default', host: 'http://old', token: 'old', source: 'auto' };
  const dir = testDir(t, {
    'config.json': JSON.stringify({ arrs: [mine, kept, gone], log_level: 'info' }),
    radarr: { 'config.xml': '<Config><ApiKey>key-of-radarr</ApiKey><UrlBase>films</UrlBase></Config>' },
    sonarr: { 'config.xml': '<Config></Config>' },
  });
  await chmod(dir, 0o755);
  const configDir = await configDirIn(dir);
  const manager = (kind: string, port: number) => ({
    process_name: kind,
    enabled: true,
    port,
    core_service: 'decypharr',
    config_dir: path.join(dir, kind),
    config_file: path.join(dir, kind, 'config.xml'),
    command: [],
  });
  const file = path.join(dir, 'config.json');
  const app = await startHost({
    plugins: 'services',
    configDir,
    config: {
      data_root: dir,
      decypharr: { config_dir: dir, config_file: file, api_keys: { realdebrid: 'key-of-provider' } },
      radarr: { instances: { Default: manager('radarr', 17_878) } },
      sonarr: { instances: { Default: manager('sonarr', 18_989) } },
    },
  });
  t.teardown(() => app.stop());
  const written = async () => JSON.parse(await readFile(file, 'utf8'));

  t.equal((await start(app, 'Decypharr')).status, 200);
  const radarr = { ...kept, host: 'http://127.0.0.1:17878/films', token: 'key-of-radarr' };
  t.same((await written()).arrs, [mine, radarr], 'one without a key is not handed over');
  t.match(await written(), { log_level: 'info', debrids: [{ name: 'realdebrid', api_key: 'key-of-provider' }] });

  await writeFile(path.join(dir, 'sonarr/config.xml'), '<Config><ApiKey>key-of-sonarr</ApiKey></Config>');
  await writeFile(path.join(dir, 'radarr/config.xml'), 'not to be read');
  await stop(app, 'Decypharr');
  t.equal((await start(app, 'Decypharr')).status, 200, 'a second start');
  const sonarr = { name: 'sonarr:Default', host: 'http://127.0.0.1:18989', token: 'key-of-sonarr', source: 'auto' };
  const entries = [mine, radarr, { ...sonarr, download_uncached: false }];
  t.same((await written()).arrs, entries, 'one whose key cannot be read just now stays');

  for (const process_name of ['radarr', 'sonarr'])
    await app.post('/config', { process_name, updates: { core_service: '' } });
  await stop(app, 'Decypharr');
  await start(app, 'Decypharr');
  t.same((await written()).arrs, [mine], 'with the links they go, the last one too');
});

t.test('a manager whose key comes late is added while Decypharr runs', { skip }, async t => {
  const dir = testDir(t, { 'config.json': '{}', sonarr: { 'config.xml': '<Config></Config>' } });
  for (const place of ['', 'sonarr', 'sonarr/config.xml']) await chmod(path.join(dir, place), 0o777);
  const file = path.join(dir, 'config.json');
  const settings = path.join(dir, 'sonarr/config.xml');
  const port = await freePort();
  const sonarr = {
    enabled: true,
    process_name: 'Sonarr',
    port,
    core_service: 'decypharr',
    config_dir: path.join(dir, 'sonarr'),
    config_file: settings,
    command: [process.execPath, arrApp, 'sonarr', String(port), settings],
  };
  const app = await startHost({
    plugins: 'services',
    configDir: await configDirIn(dir),
    config: {
      data_root: dir,
      dumb: { integrations: { answer_seconds: 2 }, integration_arr: { library_dir: path.join(dir, 'library') } },
      decypharr: { enabled: true, config_dir: dir, config_file: file },
      sonarr: { instances: { Default: sonarr } },
    },
  });
  t.teardown(() => app.stop());
  const [entry] = await until(async () => JSON.parse(await readFile(file, 'utf8')).arrs, { what: 'the manager' });
  t.match(entry, { name: 'sonarr:Default', host: `http://127.0.0.1:${port}`, source: 'auto' });
  t.match(await readFile(settings, 'utf8'), `<ApiKey>${entry.token}</ApiKey>`);
  await until(async () => (await status(app, 'Decypharr')).status === 'running', { what: 'Decypharr to run again' });
  for (const name of ['Sonarr', 'Decypharr']) t.equal((await restart(app, name)).status, 200);
  const { chunk } = (await app.get('/logs?process_name=DUMB')).body;
  t.equal(
    chunk.split('Decypharr: it is started again to learn of Sonarr').length,
    2,
    'once, and not for what it knows',
  );
});

t.test('a release before 2.0 gets its own form', { skip }, async t => {
  const dir = testDir(t, { 'config.json': '{}', 'version.txt': 'v1.1.6\n' });
  await chmod(dir, 0o755);
  const configDir = path.join(dir, 'config');
  await mkdir(path.join(configDir, 'templates/services'), { recursive: true });
  const files = [{ ...TEMPLATE.setup.files[0], values: { download_folder: '/downloads' } }];
  const shipped = JSON.parse(
    await readFile(new URL('../../../templates/services/decypharr.json', import.meta.url), 'utf8'),
  );
  const { facts, mounts, version } = shipped;
  const template = { ...TEMPLATE, setup: { files }, version, facts, mounts };
  await writeFile(path.join(configDir, 'templates/services/decypharr.json'), JSON.stringify(template));
  const file = path.join(dir, 'config.json');
  const block = { config_dir: dir, config_file: file, mount_type: 'dfs', mount_path: '/mnt/films' };
  const api_keys = { realdebrid: 'key' };
  const app = await startHost({ plugins: 'services', configDir, config: { decypharr: { ...block, api_keys } } });
  t.teardown(() => app.stop());
  const written = async () => JSON.parse(await readFile(file, 'utf8'));
  t.equal((await start(app, 'Decypharr')).status, 200);
  t.match(await written(), {
    qbittorrent: { download_folder: '/downloads' },
    rclone: { enabled: true, mount_path: '/mnt/films' },
    debrids: [{ name: 'realdebrid', api_key: 'key', folder: '/mnt/films/realdebrid/__all__', use_webdav: true }],
  });
  await writeFile(file, JSON.stringify({ debrids: [{ name: 'realdebrid', folder: '/elsewhere', use_webdav: false }] }));
  await app.post('/config', { process_name: 'Decypharr', updates: { mount_type: 'external_rclone' } });
  t.equal((await restart(app, 'Decypharr')).status, 200);
  t.match(await written(), {
    rclone: { enabled: false },
    debrids: [{ api_key: 'key', folder: '/elsewhere', use_webdav: false }],
  });
  await writeFile(path.join(dir, 'version.txt'), 'v2.0.0\n');
  await writeFile(file, '{}');
  t.equal((await restart(app, 'Decypharr')).status, 200);
  t.notOk('rclone' in (await written()), 'later ones have none of it');
  t.notOk('folder' in (await written()).debrids[0]);
});

t.test('providers and mounts are written in its own words', { skip }, async t => {
  const dir = testDir(t, { 'config.json': '{ "debrids": [{ "name": "debrid link", "provider": "debrid link" }] }' });
  await chmod(dir, 0o755);
  const configDir = await configDirIn(dir);
  const file = path.join(dir, 'config.json');
  const { facts } = JSON.parse(
    await readFile(new URL('../../../templates/services/decypharr.json', import.meta.url), 'utf8'),
  );
  const template = path.join(configDir, 'templates/services/decypharr.json');
  await writeFile(template, JSON.stringify({ ...TEMPLATE, facts }));
  const api_keys = { 'debrid link': 'one', AllDebrid: 'two', realdebrid: 'three' };
  const block = { config_dir: dir, config_file: file, mount_type: '', api_keys };
  const app = await startHost({ plugins: 'services', configDir, config: { decypharr: block } });
  t.teardown(() => app.stop());
  const written = async () => JSON.parse(await readFile(file, 'utf8'));
  t.equal((await start(app, 'Decypharr')).status, 200);
  const { debrids, mount } = await written();
  t.same(
    debrids.map((entry: Record<string, unknown>) => [entry.name, entry.provider, entry.api_key]),
    [
      ['debrid link', 'debridlink', 'one'],
      ['AllDebrid', 'alldebrid', 'two'],
      ['realdebrid', 'realdebrid', 'three'],
    ],
  );
  t.equal(mount.type, 'rclone', 'blank counts as rclone');
  await app.post('/config', { process_name: 'Decypharr', updates: { mount_type: 'none' } });
  t.equal((await restart(app, 'Decypharr')).status, 200);
  t.equal((await written()).mount.type, 'none');
});
