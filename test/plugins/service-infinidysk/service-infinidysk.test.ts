// The settings of InfiniDysk: managers, categories and its mount.
import { existsSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { arr, fieldsOf, infinidyskBlock, keyOf, type State, startStack, stateOf } from '../../support/arr-stack.ts';
import { programOf } from '../../support/debian.ts';
import { testDir } from '../../support/directory.ts';
import { pluginsDir } from '../../support/host.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = !['integrations', 'service-arr', 'service-infinidysk', 'service-rclone'].every(name =>
  existsSync(path.join(pluginsDir, name)),
);

t.test('managers are added to InfiniDysk, and existing settings stay', { skip }, async t => {
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
  const host = await startStack(t, dir, false, {
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

  // Both connections follow the same start, so once this client is back, both were examined.
  const client = await until(async () => (await stateOf(dir, 'Radarr')).downloadclient[0], { what: 'the client' });
  t.match(fieldsOf(client), { port, urlBase: '', movieCategory: 'radarr-default', apiKey: 'the-key-of-infinidysk' });
  await host.post('/process/restart-service', { process_name: 'InfiniDysk' });
  await until(
    async () => (await host.get('/process/service-status?process_name=InfiniDysk')).body.status === 'running',
  );
  t.equal((await state()).writes, 1, 'what is right is not written again');
});

t.test('InfiniDysk gets the address of the rclone that mounts it', { skip }, async t => {
  const rclone = await programOf(['rclone'], ['rclone']);
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const file = path.join(dir, 'infinidysk.json');
  const state = async (): Promise<State> => JSON.parse(await readFile(file, 'utf8'));
  const [port, served, control] = [await freePort(), await freePort(), await freePort()];
  const flags = ['--rc', `--rc-addr=127.0.0.1:${control}`, '--rc-user=keeper', '--rc-pass=hunter2'];
  const host = await startStack(t, dir, false, {
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
