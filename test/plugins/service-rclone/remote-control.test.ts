// The remote control of rclone: enabled for mounts that a service uses, and used for their health.
import { existsSync } from 'node:fs';
import { chmod, readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { remoteControlOf } from '../../../plugins/service-rclone/remote-controls.ts';
import { programOf } from '../../support/debian.ts';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { start, status } from '../../support/kids.ts';
import { startMounts } from '../../support/mounts.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = !['service-rclone', 'setup'].every(name => existsSync(path.join(pluginsDir, name)));
const root = process.getuid?.() === 0;

t.test('the flags of the remote control are added once', async t => {
  const control = { user: '', password: '' };
  const cases: [flags: string[], expected: unknown][] = [
    [[], undefined],
    [['--rc'], { ...control, port: 5_572 }],
    [['--rc=false', '--rc-addr=127.0.0.1:1'], undefined],
    [['--rc=true', '--rc-addr', 'localhost:6000', '--rc-no-auth'], { ...control, port: 6_000 }],
    [['--rc', '--rc-addr=0.0.0.0:5572'], undefined],
    [['--rc', '--rc-addr=:5572'], undefined],
    [['--rc', '--rc-addr=unix:///run/rclone.sock'], undefined],
    [['--rc-addr=127.0.0.1:5572'], undefined],
    [['--rc', '--rc-htpasswd=/etc/passwords'], undefined],
    [['--rc', '--rc-user=a', '--rc-pass', 'b=c'], { port: 5_572, user: 'a', password: 'b=c' }],
    [['--rc', '--rc-addr=127.0.0.1:1', '--rc-addr=127.0.0.1:2'], { ...control, port: 2 }],
  ];
  for (const [flags, expected] of cases)
    t.same(remoteControlOf(['rclone', 'mount', 'a:', '/mnt', ...flags]), expected, flags.join(' '));
});

t.test('the health of an rclone with remote control is requested', { skip }, async t => {
  const rclone = await programOf(['rclone'], ['rclone']);
  const dir = testDir(t, {});
  await chmod(dir, 0o755);
  const serving = async (name: string, ...flags: string[]) => ({
    enabled: false,
    process_name: name,
    config_dir: dir,
    command: [rclone, 'serve', 'http', dir, '--addr', `127.0.0.1:${await freePort()}`, ...flags],
  });
  const guarded = ['--rc-user=keeper', '--rc-pass=hunter2'];
  const app = await startHost({
    plugins: 'offline',
    config: {
      dumb: { plugins: { disabled: ['setup'] }, gateway: { enabled: false } },
      rclone: {
        instances: {
          Open: await serving('Open', '--rc', `--rc-addr=127.0.0.1:${await freePort()}`, '--rc-no-auth'),
          Guarded: await serving('Guarded', '--rc', '--rc-addr', `localhost:${await freePort()}`, ...guarded),
          Silent: await serving('Silent'),
        },
      },
    },
  });
  t.teardown(() => app.stop());
  for (const name of ['Open', 'Guarded', 'Silent']) {
    t.equal((await start(app, name)).status, 200);
    const { health_details: details } = await until(async () => {
      const found = await status(app, name);
      return found.health_status === 'healthy' && found;
    });
    const expected = name === 'Silent' ? { probe: 'process' } : { probe: 'http', endpoint: '/core/version' };
    t.match(details, expected, name);
  }
});

t.test('a used mount has a remote control', { skip: skip || !root || !existsSync('/dev/fuse') }, async t => {
  const app = await startMounts(t, ['one', 'two'], { userMounts: true });
  const started = await Promise.all(['one', 'two'].map(app.start));
  t.same(
    started.map(answer => answer.status),
    [200, 200],
    JSON.stringify(started.map(answer => answer.body)),
  );
  const words = async (name: string) => (await readFile(`/proc/${await app.pidOf(name)}/cmdline`, 'utf8')).split('\0');
  const controls = await Promise.all(['one', 'two'].map(async name => remoteControlOf(await words(name))));
  t.match(controls, [{ user: '' }, { user: '' }]);
  t.not(controls[0]?.port, controls[1]?.port, 'one port for each');
  t.ok((await words('one')).includes('--rc-no-auth'));
  t.equal(await app.film('two'), 'a film');
  const found = await until(async () => {
    const now = await app.status('one');
    return now.health_status === 'healthy' ? now : undefined;
  });
  t.match(found.health_details, { probe: 'http', endpoint: '/core/version', port: controls[0]?.port });
});
