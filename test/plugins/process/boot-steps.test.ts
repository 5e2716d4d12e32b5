// What a boot does before the first launch, and what a shutdown does after the last stop.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { readMounts } from '../../../core/kit/mountinfo.ts';
import { testDir } from '../../support/directory.ts';
import { startHost, type TestHost } from '../../support/host.ts';
import { kid, start, status } from '../../support/kids.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const PLUGINS = ['config', 'process', 'health-probe', 'logs', 'health'];

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;

const instantly = { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } };
const configured = async (app: TestHost) => JSON.parse(await readFile(`${app.configDir}/stackwarden.json`, 'utf8'));

t.test('ports are reserved for all entries in one write, first come first served', async t => {
  const port = await freePort();
  const app = await startHost({
    plugins: PLUGINS,
    config: {
      dumb: instantly,
      first: kid('First', ['calm'], { enabled: true, port }),
      second: { instances: { One: kid('Second', ['calm'], { enabled: true, port }) } },
      disabled: kid('Disabled', ['calm'], { port }),
    },
  });
  t.teardown(() => app.stop());
  const saved = await until(async () => {
    const config = await configured(app);
    return config.second.instances.One.port === port ? null : config;
  });
  t.equal(saved.first.port, port);
  t.ok(saved.second.instances.One.port > port);
  t.equal(saved.disabled.port, port, 'a disabled entry keeps its port');
  const log = (await app.get('/logs?process_name=DUMB')).body.chunk;
  t.match(log, `Second: port ${port} is in use, ${saved.second.instances.One.port} is taken instead`);
});

t.test('a port of the product itself never moves', async t => {
  const taken = createServer();
  const port = await new Promise<number>(resolve => {
    taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port));
  });
  t.teardown(() => taken.close());
  const app = await startHost({
    plugins: PLUGINS,
    config: { dumb: { frontend: kid('DUMB Frontend', ['calm'], { port, config_dir: tmpdir() }) } },
  });
  t.teardown(() => app.stop());
  await start(app, 'DUMB Frontend');
  t.equal((await configured(app)).dumb.frontend.port, port);
});

t.test('env_copy', async t => {
  const dir = testDir(t, { source: 'A=1\n' });
  if (isRoot) await chown(dir, 65_534, 65_534);
  const block = (name: string, source: string) =>
    kid(name, ['calm'], { env_copy: { source: path.join(dir, source), destination: path.join(dir, `${name}.env`) } });
  const app = await startHost({
    plugins: PLUGINS,
    config: {
      copied: block('Copied', 'source'),
      absent: block('Absent', 'nothing'),
      refused: kid('Refused', ['calm'], {
        env_copy: { source: path.join(dir, 'source'), destination: path.join(dir, 'no', 'such', 'place') },
      }),
    },
  });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'Copied')).status, 200);
  t.equal(await readFile(path.join(dir, 'Copied.env'), 'utf8'), 'A=1\n');
  if (isRoot) t.equal((await stat(path.join(dir, 'Copied.env'))).uid, 65_534);
  t.equal((await start(app, 'Absent')).status, 200, 'a missing source is no fault');
  const refused = await start(app, 'Refused');
  t.equal(refused.status, 500);
  t.match(refused.body.detail, /could not be copied to/);
  t.equal((await status(app, 'Refused')).status, 'stopped');
});

t.test('logs go back to the service user', { skip: isRoot ? false : 'only root may give files away' }, async t => {
  const dir = testDir(t, { log: { 'kid.log': 'old\n' } });
  const file = path.join(dir, 'log', 'kid.log');
  await chown(file, 1_234, 1_234);
  const app = await startHost({
    plugins: PLUGINS,
    config: { dumb: { log_dir: path.join(dir, 'log') }, calm: kid('Calm', ['calm'], { log_file: file }) },
  });
  t.teardown(() => app.stop());
  await until(async () => (await stat(file)).uid === 65_534);
  t.equal((await stat(path.join(dir, 'log'))).uid, 65_534);
});

t.test(
  'a mount that its provider left behind is taken off',
  { skip: isRoot ? false : 'only root may mount' },
  async t => {
    const directory = path.join(testDir(t, {}), 'remote');
    await mkdir(directory);
    t.teardown(() => run('umount', ['--lazy', directory]).catch(() => undefined));
    const app = await startHost({
      plugins: PLUGINS,
      config: {
        remote: { ...kid('Remote', ['calm']), mount_path: directory, stop_grace_seconds: 1 },
      },
    });
    t.teardown(() => app.stop());
    t.equal((await start(app, 'Remote')).status, 200);
    // A user-space file system whose server dies without taking it off.
    const script = `exec 5<>/dev/fuse; mount -i -t fuse.test -o fd=5,rootmode=40000,user_id=0,group_id=0 remote ${directory}; exec sleep 1000`;
    const server = spawn('bash', ['-c', script], { stdio: 'ignore' });
    const isMounted = async () => (await readMounts()).some(mount => mount.directory === directory);
    await until(isMounted, { what: 'the mount' });
    server.kill('SIGKILL');
    await once(server, 'exit');
    t.ok(await isMounted());
    await app.stop();
    t.notOk(await isMounted());
  },
);
