// Line 3: logs replaced by FIFOs, sockets, directories and links hold up neither a route nor the end.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { untilDayIsLong } from '../support/day.ts';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { kid, start } from '../support/kids.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const ticker = ['sh', '-c', 'i=0; while :; do i=$((i+1)); echo "tick $i"; sleep 0.05; done'];
const names = ['Fifo', 'Reader', 'Socket', 'Folder', 'Link'];

t.test('nothing in the place of a log stops a route, another log or the end', async t => {
  // Short, because the names of sockets are.
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-'));
  t.teardown(() => rm(dir, { recursive: true }));
  const logDir = path.join(dir, 'log');
  await mkdir(logDir);
  await writeFile(path.join(dir, 'secret'), 'outside\n');
  const at = (name: string) => path.join(logDir, `${name.toLowerCase()}.log`);
  const block = (name: string) => ({ ...kid(name, []), command: ticker, log_file: at(name) });
  await untilDayIsLong();
  const app = await startHost({
    plugins: ['config', 'process', 'logs', 'health'],
    config: { dumb: { log_dir: logDir }, ...Object.fromEntries([...names, 'Plain'].map(name => [name, block(name)])) },
  });
  let stopped = false;
  t.teardown(() => (stopped ? undefined : app.stop()));
  for (const name of [...names, 'Plain']) t.equal((await start(app, name)).status, 200);
  for (const name of names) await until(async () => (await readFile(at(name), 'utf8')).includes('tick'));

  const [own = ''] = (await readdir(logDir)).filter(name => name.startsWith('DUMB-'));
  const ownLog = path.join(logDir, own);
  const aside = (file: string) => `${file}.aside`;
  await run('mkfifo', [at('Fifo'), at('Reader'), ownLog].map(aside));
  const server = createServer().listen(aside(at('Socket')));
  await once(server, 'listening');
  t.teardown(() => server.close());
  await mkdir(aside(at('Folder')));
  await symlink(path.join(dir, 'secret'), aside(at('Link')));
  for (const file of [...names.map(at), ownLog])
    await until(
      async () => {
        await rm(file, { force: true });
        await rename(aside(file), file);
        return true;
      },
      { what: `${file} to be replaced between two lines` },
    );
  const reader = execFile('sh', ['-c', `exec 3<>'${at('Reader')}'; echo open; exec sleep 1000`]);
  t.teardown(() => reader.kill('SIGKILL'));
  await new Promise(resolve => reader.stdout?.once('data', resolve));

  const lines = async () => (await readFile(at('Plain'), 'utf8')).split('\n').length;
  const before = await lines();
  await until(async () => (await lines()) > before + 20, { what: 'another log to go on' });
  for (const name of [...names, 'DUMB']) {
    const { status, body } = await app.get(`/logs?process_name=${name}`);
    t.equal(status, 200, name);
    t.notMatch(body.chunk, 'outside', `${name} shows nothing of it`);
  }
  t.equal((await app.get('/health')).status, 200);
  t.equal(await readFile(path.join(dir, 'secret'), 'utf8'), 'outside\n', 'nothing is written behind a link');

  await rm(at('Folder'), { recursive: true });
  await until(async () => (await readFile(at('Folder'), 'utf8')).includes('tick'), { what: 'the log to come back' });
  await app.host.stop();
  stopped = true;
  await t.rejects(app.get('/health'), 'the host has stopped');
  await rm(app.configDir, { recursive: true, force: true });
});

t.test('a log that is no file at the start holds up no start', async t => {
  const dir = testDir(t, { log: {} });
  const logDir = path.join(dir, 'log');
  await run('mkfifo', [path.join(logDir, 'early.log')]);
  await writeFile(path.join(logDir, 'DUMB-2020-01-01.log'), 'old\n');
  const app = await startHost({
    plugins: ['config', 'process', 'logs'],
    config: {
      dumb: { log_dir: logDir },
      early: { ...kid('Early', []), command: ticker, log_file: path.join(logDir, 'early.log') },
    },
  });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'Early')).status, 200);
  const own = async () => (await app.get('/logs?process_name=DUMB')).body.chunk;
  await until(async () => /early\.log is no regular file; remove it/.test(await own()), { what: 'the log to say it' });
});
