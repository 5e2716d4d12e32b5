// Media managers get their download services as clients, and a library folder.
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { arr, fieldsOf, keyOf, listener, type State, startStack, stateOf, webApp } from '../../support/arr-stack.ts';
import { testDir } from '../../support/directory.ts';
import { pluginsDir } from '../../support/host.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = !['integrations', 'service-arr', 'service-decypharr', 'service-infinidysk'].every(name =>
  existsSync(path.join(pluginsDir, name)),
);

t.test(
  'media managers get their download service and a folder; what is right is not written again',
  { skip },
  async t => {
    const dir = testDir(t, {});
    const library = path.join(dir, 'library/decypharr_symlinks/sonarr-four-k');
    await mkdir(library, { recursive: true });
    await mkdir(path.join(dir, 'library/combined_symlinks/lidarr-default'), { recursive: true });
    const decypharr = await listener(dir, 'Decypharr');
    const host = await startStack(t, dir, false, {
      decypharr,
      sonarr: { instances: { 'Four K': await arr(dir, 'sonarr', 'Sonarr', { core_service: 'decypharr' }) } },
      radarr: { instances: { Default: await arr(dir, 'radarr', 'Radarr') } },
      lidarr: { instances: { Default: await arr(dir, 'lidarr', 'Lidarr', { core_service: 'decypharr, infinidysk' }) } },
    });
    await until(
      async () => {
        const { mediamanagement, rootfolder } = await stateOf(dir, 'Sonarr');
        return mediamanagement.setPermissionsLinux && rootfolder.length > 0;
      },
      { what: 'Sonarr' },
    );
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
    // The change of this port shows that everything before it was examined.
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

t.test('a silent service does not prevent others, and a new key is passed on', { skip }, async t => {
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
  const host = await startStack(t, dir, false, config);
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
  await startStack(t, dir, false, { ...others, infinidysk: { ...config.infinidysk, env: key('third') } });
  await until(async () => fieldsOf((await clients())[0]).apiKey === 'third', {
    what: 'the key that changed while the host was off',
  });
});
