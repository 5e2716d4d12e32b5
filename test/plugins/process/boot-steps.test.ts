// What a boot does before the first launch, and what a shutdown does after the last stop.

import { execFile } from 'node:child_process';
import { chown, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
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

const PLUGINS = ['config', 'process', 'logs', 'health'];

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;

const settled = (app: TestHost) => until(async () => (await app.get('/process/startup-status')).body.terminal === true);
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

t.test('the frontend is started first and is told where the service is', async t => {
  const dir = testDir(t, {});
  const file = path.join(dir, 'seen');
  await writeFile(file, '');
  if (isRoot) await chown(file, 65_534, 65_534);
  const app = await startHost({
    plugins: PLUGINS,
    config: {
      dumb: {
        ...instantly,
        api_service: { host: '0.0.0.0', port: 8_123 },
        frontend: {
          enabled: true,
          process_name: 'DUMB Frontend',
          config_dir: tmpdir(),
          command: ['sh', '-c', `env > ${file}; exec sleep 1000`],
          env: { DMB_TRAEFIK_URL: 'http://proxy' },
        },
      },
      other: kid('Other', ['calm'], { enabled: true }),
      consumer: kid('Consumer', ['calm'], { enabled: true, wait_for_dir: path.join(dir, 'provided') }),
      provider: kid('Provider', ['calm'], { enabled: true, core_service: 'consumer' }),
    },
  });
  t.teardown(() => app.stop());
  await until(async () => (await status(app, 'Provider')).status === 'running', { what: 'one behind a long wait' });
  const seen = await readFile(file, 'utf8');
  for (const line of [
    'DUMB_API_URL=http://127.0.0.1:8123',
    'DMB_API_URL=http://127.0.0.1:8123',
    'DUMB_TRAEFIK_URL=http://127.0.0.1:18080',
    'DMB_TRAEFIK_URL=http://proxy',
    'PORT=3005',
  ]) {
    t.ok(seen.split('\n').includes(line), line);
  }
  const { processes } = (await app.get('/process/processes')).body;
  t.equal(processes.filter((entry: { status: string }) => entry.status === 'running').length, 4);
});

t.test('env_copy', async t => {
  const dir = testDir(t, { source: 'A=1\n' });
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
  const app = await startHost({ plugins: PLUGINS, config: { dumb: { log_dir: path.join(dir, 'log') } } });
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
    // A user-space file system whose server dies without taking it off.
    const script = `exec 5<>/dev/fuse; mount -i -t fuse.test -o fd=5,rootmode=40000,user_id=0,group_id=0 remote ${directory}; exec sleep 1000`;
    const isMounted = async () => (await readMounts()).some(mount => mount.directory === directory);
    const app = await startHost({
      plugins: PLUGINS,
      config: {
        rclone: {
          enabled: false,
          process_name: 'Remote',
          command: ['bash', '-c', script],
          mount_path: directory,
          stop_grace_seconds: 1,
        },
      },
    });
    t.teardown(() => app.stop());
    t.equal((await start(app, 'Remote')).status, 200);
    t.ok(await isMounted());
    await app.stop();
    t.notOk(await isMounted());
  },
);

t.test('a database server that runs already', async t => {
  // Whatever works in the data directory and is named by its pid file is the server.
  const dir = testDir(t, { good: {}, unclear: {} });
  const servers = ['good', 'unclear'].map(name => {
    const cwd = path.join(dir, name);
    const child = execFile('sleep', ['1000'], { cwd });
    t.teardown(() => child.kill('SIGKILL'));
    return { cwd, pid: child.pid };
  });
  const second = execFile('sleep', ['1000'], { cwd: path.join(dir, 'unclear') });
  t.teardown(() => second.kill('SIGKILL'));
  for (const { cwd, pid } of servers) {
    await writeFile(path.join(cwd, 'postmaster.pid'), `${pid}\n${cwd}\n${Math.floor(Date.now() / 1_000)}\n5432\n`);
  }
  const block = (name: string, directory: string) =>
    kid(name, ['calm'], { enabled: true, config_dir: path.join(dir, directory) });
  const app = await startHost({
    plugins: PLUGINS,
    config: {
      // What runs there is no server that could be asked.
      dumb: { ...instantly, plugins: { disabled: ['setup-postgres'] } },
      postgres: { instances: { Good: block('Good', 'good'), Unclear: block('Unclear', 'unclear') } },
    },
  });
  t.teardown(() => app.stop());
  await settled(app);
  const state = JSON.parse(await readFile(`${app.configDir}/supervisor/state.json`, 'utf8'));
  t.equal(state.processes.Good.pid, servers[0]?.pid, 'one server: adopted');
  t.equal((await status(app, 'Good')).status, 'running');
  t.match((await app.get('/process/startup-status')).body.failures.Unclear, /not its one database server/);
});
