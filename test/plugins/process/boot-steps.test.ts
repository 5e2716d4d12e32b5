// The steps of a boot before the first launch, and of a shutdown after the last stop.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { readMounts } from '../../../core/kit/mountinfo.ts';
import { testDir } from '../../support/directory.ts';
import { startHost, type TestHost } from '../../support/host.ts';
import { kid, start, status } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
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

t.test('env_copy copies a file before the launch', async t => {
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
  'mounts that their providers left behind are taken off',
  { skip: isRoot ? false : 'only root may mount' },
  async t => {
    const dir = testDir(t, { left: {}, covered: {}, config: {} });
    const [left, covered] = [path.join(dir, 'left'), path.join(dir, 'covered')];
    t.teardown(async () => {
      for (const place of [left, left, covered, covered]) await run('umount', ['--lazy', place]).catch(() => undefined);
    });
    const provider = (name: string, place: string) => ({
      ...kid(name, ['calm']),
      mount_path: place,
      stop_grace_seconds: 1,
    });
    const app = await startHost({
      plugins: PLUGINS,
      configDir: path.join(dir, 'config'),
      config: { left: provider('Left', left), covered: provider('Covered', covered) },
    });
    t.teardown(() => app.stop());
    for (const name of ['Left', 'Covered']) t.equal((await start(app, name)).status, 200);
    // Mounted twice, as by a provider that was started again over its remains.
    for (const place of [left, left, covered]) await leaveMount(place);
    // Somebody else has mounted something there meanwhile.
    await run('mount', ['--no-canonicalize', '-t', 'tmpfs', 'own', covered]);
    await app.stop();
    const types = async (place: string) =>
      (await readMounts()).filter(({ directory }) => directory === place).map(({ type }) => type);
    t.same(await types(left), []);
    t.same(await types(covered), ['fuse.test', 'tmpfs'], 'what others have mounted there stays');
    t.ok(
      (await ownLog(app)).some(line => line.includes(`${covered} is still mounted: something else is mounted there`)),
    );
  },
);

/** Leaves a user-space file system mounted whose server has died. */
async function leaveMount(place: string): Promise<void> {
  const count = async () => (await readMounts()).filter(({ directory }) => directory === place).length;
  const before = await count();
  const script = `exec 5<>/dev/fuse; mount -i -c -t fuse.test -o fd=5,rootmode=40000,user_id=0,group_id=0 remote ${place}; exec sleep 1000`;
  const server = spawn('bash', ['-c', script], { stdio: 'ignore' });
  await until(async () => (await count()) > before, { what: 'the mount' });
  server.kill('SIGKILL');
  await once(server, 'exit');
}
