// Applications that are started together come to know each other, over their own APIs and files.
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { parse } from 'yaml';
import { programOf } from '../../support/debian.ts';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost, type TestHost } from '../../support/host.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const needed = [
  'setup-rclone',
  'integrations',
  'arr',
  'integration-arr',
  'integration-infinidysk',
  'integration-prowlarr',
  'setup-altmount',
  'setup-neutarr',
];
const skip = !needed.every(name => existsSync(path.join(pluginsDir, name)));
const app = fileURLToPath(new URL('../../support/arr-app.cjs', import.meta.url));
const infinidysk = fileURLToPath(new URL('../../support/infinidysk-app.cjs', import.meta.url));
const webApp = fileURLToPath(new URL('../../support/web-app.cjs', import.meta.url));

// biome-ignore lint/suspicious/noExplicitAny: what an application holds has any shape
type State = any;

const stateOf = async (dir: string, name: string): Promise<State> =>
  JSON.parse(await readFile(path.join(dir, name, 'config.xml.state.json'), 'utf8'));
const keyOf = async (dir: string, name: string): Promise<string> =>
  /<ApiKey>(.*)<\/ApiKey>/.exec(await readFile(path.join(dir, name, 'config.xml'), 'utf8'))?.[1] ?? '';
const fieldsOf = (entry: State): Record<string, unknown> =>
  Object.fromEntries(entry.fields.map((field: State) => [field.name, field.value]));

/** With its directory and the file that its first start completes, for whichever user it runs as. */
async function arr(dir: string, kind: string, name: string, more: object = {}, settings = '') {
  const port = await freePort();
  const file = path.join(dir, name, 'config.xml');
  await mkdir(path.dirname(file));
  await writeFile(file, `<Config>\n${settings}</Config>\n`);
  for (const place of [path.dirname(file), file]) await chmod(place, 0o777);
  return {
    enabled: true,
    process_name: name,
    port,
    config_dir: path.dirname(file),
    config_file: file,
    command: [process.execPath, app, kind, String(port), file],
    ...more,
  };
}

/** Something that listens, where a download service would. */
async function listener(dir: string, name: string, more: object = {}) {
  const port = await freePort();
  return {
    enabled: true,
    process_name: name,
    port,
    config_dir: dir,
    command: [process.execPath, webApp, String(port)],
    ...more,
  };
}

/** `file` keeps what it is told. */
const infinidyskBlock = async (dir: string, port: number, file: string) => ({
  enabled: true,
  process_name: 'InfiniDysk',
  config_dir: dir,
  backend_port: port,
  frontend_port: await freePort(),
  env: { FRONTEND_BACKEND_API_KEY: 'the-key-of-infinidysk' },
  command: [process.execPath, infinidysk, String(port), file, 'the-key-of-infinidysk'],
});

/** `setUp` false: the directories that templates name outside of `dir` are not made. */
async function start(t: Parameters<typeof testDir>[0], dir: string, setUp: boolean, config: object): Promise<TestHost> {
  const configDir = path.join(dir, 'host');
  await mkdir(configDir, { recursive: true });
  const running = await startHost({
    plugins: 'all',
    configDir,
    config: {
      data_root: dir,
      dumb: {
        startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.2, readiness_timeout_seconds: 3 },
        integrations: { retry_seconds: 0.2, answer_seconds: 6 },
        integration_arr: { library_dir: path.join(dir, 'library') },
        plugins: { disabled: setUp ? [] : ['service-setup'] },
      },
      ...config,
    },
  });
  t.teardown(() => running.stop());
  return running;
}

t.test(
  'media managers get their download service and a folder; what is right is not written again',
  { skip },
  async t => {
    const dir = testDir(t, {});
    const library = path.join(dir, 'library/decypharr_symlinks/sonarr-four-k');
    await mkdir(library, { recursive: true });
    await mkdir(path.join(dir, 'library/combined_symlinks/lidarr-default'), { recursive: true });
    const decypharr = await listener(dir, 'Decypharr');
    const host = await start(t, dir, false, {
      decypharr,
      sonarr: { instances: { 'Four K': await arr(dir, 'sonarr', 'Sonarr', { core_service: 'decypharr' }) } },
      radarr: { instances: { Default: await arr(dir, 'radarr', 'Radarr') } },
      lidarr: { instances: { Default: await arr(dir, 'lidarr', 'Lidarr', { core_service: 'decypharr, infinidysk' }) } },
    });
    await until(async () => (await stateOf(dir, 'Sonarr')).mediamanagement.setPermissionsLinux, { what: 'Sonarr' });
    await until(async () => (await stateOf(dir, 'Lidarr')).rootfolder.length > 0, { what: 'Lidarr' });
    const client = await until(async () => (await stateOf(dir, 'Sonarr')).downloadclient[0]);
    t.match(client, { name: 'decypharr', implementation: 'QBittorrent', enable: true });
    t.match(fieldsOf(client), {
      host: '127.0.0.1',
      port: decypharr.port,
      username: /^http:\/\/127\.0\.0\.1:\d+$/,
      password: await keyOf(dir, 'Sonarr'),
      tvCategory: 'sonarr:Four K',
    });
    const { rootfolder, mediamanagement } = await stateOf(dir, 'Sonarr');
    t.match(rootfolder, [{ path: library }]);
    t.match(mediamanagement, { setPermissionsLinux: true, chmodFolder: '777', chmodFile: undefined });
    const [folder] = (await stateOf(dir, 'Lidarr')).rootfolder;
    t.match(folder, {
      path: path.join(dir, 'library/combined_symlinks/lidarr-default'),
      defaultQualityProfileId: 4,
      defaultMetadataProfileId: 7,
    });
    const radarr = await stateOf(dir, 'Radarr');
    t.same(
      [radarr.downloadclient, radarr.rootfolder, radarr.writes],
      [[], [], 0],
      'one that belongs to nobody is left alone',
    );

    const { writes } = await stateOf(dir, 'Sonarr');
    const changed = { ...mediamanagement, setPermissionsLinux: false };
    const sonarr = (await host.get('/process?process_name=Sonarr')).body.config;
    const api = `http://127.0.0.1:${sonarr.port}/api/v3`;
    const headers = { 'x-api-key': await keyOf(dir, 'Sonarr'), 'content-type': 'application/json' };
    await fetch(`${api}/config/mediamanagement`, { method: 'PUT', headers, body: JSON.stringify(changed) });
    for (const name of ['Sonarr', 'Decypharr', 'Sonarr'])
      t.match(await host.post('/process/restart-service', { process_name: name }), { status: 200 });
    await until(async () => (await host.get('/process/service-status?process_name=Sonarr')).body.status === 'running');
    // The change of a port is noticed, which tells that everything before it was looked at.
    const port = await freePort();
    await host.post('/config', {
      process_name: 'Decypharr',
      updates: { port, command: [process.execPath, webApp, String(port)] },
    });
    await host.post('/process/restart-service', { process_name: 'Decypharr' });
    await until(async () => fieldsOf((await stateOf(dir, 'Sonarr')).downloadclient[0]).port === port, {
      what: 'the new port',
    });
    const after = await stateOf(dir, 'Sonarr');
    t.equal(after.writes, writes + 2, 'the change by hand and the port, and nothing else');
    t.equal(after.mediamanagement.setPermissionsLinux, false, 'a choice of the user stays');
    t.equal(
      fieldsOf(after.downloadclient[0]).password,
      await keyOf(dir, 'Sonarr'),
      'a hidden secret is not overwritten',
    );
  },
);

t.test('Prowlarr knows the managers and the indexer that runs here', { skip }, async t => {
  const dir = testDir(t, {});
  const prowlarr = await arr(dir, 'prowlarr', 'Prowlarr');
  const zilean = await listener(dir, 'Zilean');
  const base = '  <UrlBase>/adult</UrlBase>\n';
  const whisparr = await arr(dir, 'whisparr', 'Whisparr', { core_service: 'decypharr, riven_backend' }, base);
  const host = await start(t, dir, false, {
    prowlarr: { instances: { Default: prowlarr } },
    whisparr: { instances: { Default: whisparr } },
    decypharr: await listener(dir, 'Decypharr'),
    zilean,
  });
  const application = await until(async () => (await stateOf(dir, 'Prowlarr')).applications[0], { what: 'Whisparr' });
  t.match(application, { name: 'Whisparr (Default)', implementation: 'Whisparr', syncLevel: 'fullSync' });
  const { prowlarrUrl, baseUrl, apiKey, syncCategories } = fieldsOf(application);
  t.equal(prowlarrUrl, `http://127.0.0.1:${prowlarr.port}`);
  t.equal(baseUrl, `http://127.0.0.1:${whisparr.port}/adult`, 'with the base of its addresses');
  t.equal(apiKey, await keyOf(dir, 'Whisparr'));
  t.ok([2_000, 5_045, 6_090].every(category => (syncCategories as number[]).includes(category)));
  const indexer = await until(async () => (await stateOf(dir, 'Prowlarr')).indexer[0], { what: 'the indexer' });
  t.match(indexer, { name: 'Zilean', definitionName: 'Generic Torznab', enable: true, appProfileId: 3 });
  t.equal(fieldsOf(indexer).baseUrl, `http://127.0.0.1:${zilean.port}/torznab`);
  const { tag } = await stateOf(dir, 'Prowlarr');
  t.same(
    tag.map((one: State) => one.label),
    ['mine', 'decypharr'],
    'one label for both',
  );
  t.same([application.tags, indexer.tags], [[2], [2]]);

  const api = `http://127.0.0.1:${prowlarr.port}/api/v1`;
  const headers = { 'x-api-key': await keyOf(dir, 'Prowlarr'), 'content-type': 'application/json' };
  const renamed = { ...application, name: 'My films', tags: [1], syncLevel: 'addOnly' };
  await fetch(`${api}/applications/${application.id}`, { method: 'PUT', headers, body: JSON.stringify(renamed) });
  t.equal((await host.post('/process/restart-service', { process_name: 'Whisparr' })).status, 200);
  const again = await until(async () => {
    const [found] = (await stateOf(dir, 'Prowlarr')).applications;
    return found.tags.length > 1 && found;
  });
  t.match(again, { name: 'My films', syncLevel: 'addOnly', tags: [1, 2] }, 'what the user changed stays');
  t.equal((await stateOf(dir, 'Prowlarr')).applications.length, 1, 'found again by its address');
});

t.test('one that fails is tried again, says why, and holds nothing up', { skip }, async t => {
  const dir = testDir(t, {});
  const altmount = {
    ...(await listener(dir, 'AltMount')),
    env: { ALTMOUNT_API_KEY: 'a-key-of-altmount' },
    config_file: path.join(dir, 'config.yaml'),
    log_file: path.join(dir, 'altmount.log'),
    metadata_dir: path.join(dir, 'metadata'),
    mount_path: path.join(dir, 'mount'),
    command: ['sleep', '600'],
  };
  const both = { core_service: 'altmount, infinidysk' };
  const host = await start(t, dir, true, {
    altmount,
    sonarr: { instances: { Default: await arr(dir, 'sonarr', 'Sonarr', both) } },
  });
  const said = await until(async () => {
    const { chunk } = (await host.get('/logs?process_name=DUMB')).body;
    return /arr-download-clients of Sonarr could not be done.*/.exec(chunk)?.[0];
  });
  t.match(said, 'it is tried again when one of the two starts');
  const { chunk } = (await host.get('/logs?process_name=DUMB')).body;
  t.match(chunk, `Sonarr answers 400 to downloadclient: Unable to connect to 127.0.0.1:${altmount.port}`);
  t.notMatch(chunk, await keyOf(dir, 'Sonarr'), 'no key is told');
  t.equal((await host.get('/process/service-status?process_name=Sonarr')).body.status, 'running');

  const command = [process.execPath, webApp, String(altmount.port)];
  await host.post('/config', { process_name: 'AltMount', updates: { command } });
  await host.post('/process/restart-service', { process_name: 'AltMount' });
  const client = await until(async () => (await stateOf(dir, 'Sonarr')).downloadclient[0], { what: 'the client' });
  t.match(fieldsOf(client), { urlBase: '/sabnzbd', apiKey: 'a-key-of-altmount', tvCategory: 'tv' });
  const library = path.join(dir, 'library/combined_symlinks/sonarr-default');
  t.match(
    (await stateOf(dir, 'Sonarr')).rootfolder,
    [{ path: library }],
    'the folder was made before it was told of it',
  );

  t.same(parse(await readFile(altmount.config_file, 'utf8')).arrs, {
    sonarr_instances: [
      {
        name: 'sonarr:Default',
        url: `http://127.0.0.1:${(await host.get('/process?process_name=Sonarr')).body.config.port}`,
        api_key: await keyOf(dir, 'Sonarr'),
        enabled: true,
      },
    ],
  });
});

t.test('a service that does not answer keeps no other out, and a new key is handed over', { skip }, async t => {
  const dir = testDir(t, {});
  const port = await freePort();
  const key = (value: string) => ({ FRONTEND_BACKEND_API_KEY: value });
  const config = {
    altmount: {
      ...(await listener(dir, 'AltMount', { env: { ALTMOUNT_API_KEY: 'a' } })),
      log_file: path.join(dir, 'altmount.log'),
      command: ['sleep', '600'],
    },
    infinidysk: await listener(dir, 'InfiniDysk', {
      backend_port: port,
      env: key('first'),
      command: [process.execPath, webApp, String(port)],
    }),
    sonarr: { instances: { Default: await arr(dir, 'sonarr', 'Sonarr', { core_service: 'altmount, infinidysk' }) } },
  };
  const host = await start(t, dir, false, config);
  const clients = async () => (await stateOf(dir, 'Sonarr')).downloadclient;
  const client = await until(async () => (await clients())[0], { what: 'the client' });
  t.match(fieldsOf(client), { port, apiKey: 'first' });
  t.same(
    (await clients()).map((one: State) => one.name),
    ['InfiniDysk'],
  );

  await host.post('/config', { process_name: 'InfiniDysk', updates: { env: key('second') } });
  await host.post('/process/restart-service', { process_name: 'InfiniDysk' });
  await until(async () => fieldsOf((await clients())[0]).apiKey === 'second', { what: 'the new key' });

  await host.stop();
  const { altmount: _silent, ...others } = config;
  await start(t, dir, false, { ...others, infinidysk: { ...config.infinidysk, env: key('third') } });
  await until(async () => fieldsOf((await clients())[0]).apiKey === 'third', {
    what: 'the key that changed while the host was off',
  });
});

t.test('InfiniDysk knows its managers, and what was there stays', { skip }, async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const port = await freePort();
  const file = path.join(dir, 'infinidysk.json');
  const state = async (): Promise<State> => JSON.parse(await readFile(file, 'utf8'));
  const mine = { Host: 'http://nas:7878', ApiKey: 'mine' };
  const before = { 'arr.instances': JSON.stringify({ RadarrInstances: [mine], QueueRules: ['mine'] }) };
  await writeFile(file, JSON.stringify({ writes: 0, values: { ...before, 'api.categories': 'audio,tv' } }));
  await chmod(file, 0o666);
  const radarr = await arr(dir, 'radarr', 'Radarr', { core_service: 'infinidysk' });
  const host = await start(t, dir, false, {
    infinidysk: await infinidyskBlock(dir, port, file),
    radarr: { instances: { Default: radarr } },
  });
  const { values, writes } = await until(async () => (await state()).writes > 0 && state(), { what: 'the settings' });
  t.equal(writes, 1, 'all in one');
  t.same(JSON.parse(values['arr.instances']), {
    RadarrInstances: [mine, { Host: `http://127.0.0.1:${radarr.port}`, ApiKey: await keyOf(dir, 'Radarr') }],
    QueueRules: ['mine'],
  });
  t.equal(values['api.categories'], 'audio,tv,movies,music,whisparr,radarr-default');

  // The client in the manager comes from the same start: when it is there again, both were looked at.
  const client = await until(async () => (await stateOf(dir, 'Radarr')).downloadclient[0], { what: 'the client' });
  t.match(fieldsOf(client), { port, urlBase: '', movieCategory: 'radarr-default', apiKey: 'the-key-of-infinidysk' });
  await host.post('/process/restart-service', { process_name: 'InfiniDysk' });
  await until(
    async () => (await host.get('/process/service-status?process_name=InfiniDysk')).body.status === 'running',
  );
  t.equal((await state()).writes, 1, 'what is right is not written again');
});

t.test('InfiniDysk knows how to reach the rclone that mounts it', { skip }, async t => {
  const rclone = await programOf(['rclone'], ['rclone']);
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const file = path.join(dir, 'infinidysk.json');
  const state = async (): Promise<State> => JSON.parse(await readFile(file, 'utf8'));
  const [port, served, control] = [await freePort(), await freePort(), await freePort()];
  const flags = ['--rc', `--rc-addr=127.0.0.1:${control}`, '--rc-user=keeper', '--rc-pass=hunter2'];
  const host = await start(t, dir, false, {
    infinidysk: await infinidyskBlock(dir, port, file),
    rclone: {
      instances: {
        InfiniDysk: {
          enabled: true,
          process_name: 'Rclone',
          key_type: 'infinidysk',
          core_service: 'infinidysk',
          zurg_enabled: false,
          config_dir: dir,
          mount_dir: '/mnt/somewhere',
          mount_name: 'infinidysk',
          command: [rclone, 'serve', 'http', dir, '--addr', `127.0.0.1:${served}`, ...flags],
        },
      },
    },
  });
  const values = await until(
    async () => {
      const { values: settings } = await state();
      return settings['rclone.host'] && settings;
    },
    { what: 'the settings' },
  );
  const wanted = {
    'rclone.mount-dir': '/mnt/somewhere/infinidysk',
    'rclone.host': `http://127.0.0.1:${control}`,
    'rclone.rc-enabled': 'true',
    'rclone.user': 'keeper',
    'rclone.pass': 'hunter2',
  };
  t.match(values, wanted);
  t.notOk('arr.instances' in values, 'without managers their settings stay');

  const change = (settings: Record<string, string>) =>
    fetch(`http://127.0.0.1:${port}/api/update-config`, {
      method: 'POST',
      headers: { 'x-api-key': 'the-key-of-infinidysk' },
      body: new URLSearchParams(settings),
    });
  const restarted = async (name: string) => {
    t.equal((await host.post('/process/restart-service', { process_name: name })).status, 200);
    return until(
      async () => (await host.get(`/process/service-status?process_name=${name}`)).body.status === 'running',
    );
  };
  await change({ 'rclone.rc-enabled': 'false', 'rclone.pass': 'old' });
  await restarted('Rclone');
  await until(async () => (await state()).values['rclone.pass'] === 'hunter2', { what: 'the password' });
  t.equal((await state()).values['rclone.rc-enabled'], 'false', 'whether it is used stays a choice');
  await change({ 'rclone.host': 'http://nas:5572', 'rclone.mount-dir': '' });
  await restarted('Rclone');
  await until(async () => (await state()).values['rclone.mount-dir'] !== '', { what: 'the place of the mount' });
  t.equal((await state()).values['rclone.host'], 'http://nas:5572', 'one of another machine stays');
});

t.test('NeutArr has the managers that want it', { skip }, async t => {
  const dir = testDir(t, {
    config: { 'radarr.json': '{"instances":[{"name":"mine","api_url":"http://nas:1","enabled":false}],"sleep":5}' },
  });
  const host = await start(t, dir, true, {
    radarr: { instances: { Default: await arr(dir, 'radarr', 'Radarr', { use_neutarr: true }) } },
    sonarr: { instances: { Default: await arr(dir, 'sonarr', 'Sonarr') } },
    neutarr: {
      instances: {
        Default: {
          ...(await listener(dir, 'NeutArr')),
          env: { NEUTARR_CONFIG_DIR: path.join(dir, 'config') },
        },
      },
    },
  });
  const settings = await until(
    async () => {
      const content = JSON.parse(await readFile(path.join(dir, 'config/radarr.json'), 'utf8'));
      return content.instances.length > 1 && content;
    },
    { what: 'the manager that makes its key at its first start' },
  );
  const address = `http://127.0.0.1:${(await host.get('/process?process_name=Radarr')).body.config.port}`;
  const api_key = await keyOf(dir, 'Radarr');
  t.same(settings, {
    instances: [
      { name: 'mine', api_url: 'http://nas:1', enabled: false },
      { name: 'Default', api_url: address, api_key, enabled: true, address },
    ],
    sleep: 5,
  });
  t.notOk(existsSync(path.join(dir, 'config/sonarr.json')), 'one that does not want it');

  const isRunning = async () =>
    (await host.get('/process/service-status?process_name=NeutArr')).body.status === 'running';
  const learned = async () =>
    (await host.get('/logs?process_name=DUMB')).body.chunk.split('NeutArr: it is started again to learn of Radarr');
  await until(isRunning, { what: 'NeutArr' });
  t.equal((await learned()).length, 1, 'it starts after its managers');
  await writeFile(path.join(dir, 'Radarr/config.xml'), '<Config><ApiKey>another</ApiKey></Config>');
  await host.post('/process/restart-service', { process_name: 'Radarr' });
  await until(async () => (await learned()).length === 2 && (await isRunning()), { what: 'another key to be learned' });
  t.match(JSON.parse(await readFile(path.join(dir, 'config/radarr.json'), 'utf8')), {
    instances: [{}, { api_key: 'another' }],
  });
  const { mode } = await stat(path.join(host.configDir, 'handed-over.json'));
  t.equal(mode & 0o777, 0o600);
  t.notMatch(await readFile(path.join(host.configDir, 'handed-over.json'), 'utf8'), api_key, 'no secret in it');
});
