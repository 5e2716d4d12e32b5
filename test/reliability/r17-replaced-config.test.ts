// R17: the configuration is replaced by a rename, as editors do; the kernel may have no watches left.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { startHost, type TestHost } from '../support/host.ts';
import { COMMAND, writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const PLUGINS = ['config', 'logs'];

const run = promisify(execFile);
const rootDir = fileURLToPath(new URL('../..', import.meta.url));

async function replace(configDir: string, text: string): Promise<void> {
  const file = path.join(configDir, 'stackwarden.json');
  await writeFile(`${file}~`, text);
  await rename(`${file}~`, file);
}

const zone = async (app: TestHost) => (await app.get('/config')).body.tz;
const ownLog = async (app: TestHost) => (await app.get('/logs?process_name=DUMB')).body.chunk as string;

t.test('picked up while the host runs', async t => {
  const app = await startHost({ plugins: PLUGINS, config: { tz: 'start' } });
  t.teardown(() => app.stop());
  const file = path.join(app.configDir, 'stackwarden.json');
  const text = await readFile(file, 'utf8');
  for (const name of ['first', 'second', 'third']) {
    await replace(app.configDir, text.replace('"start"', `"${name}"`));
    await until(async () => (await zone(app)) === name, { what: `the ${name} replacement` });
  }
  await replace(app.configDir, '{ "tz": ');
  await until(async () => (await ownLog(app)).includes('a change of the configuration file is not used'));
  t.equal(await zone(app), 'third', 'a file that cannot be read is kept out');
  const refused = await app.post('/config', { updates: { tz: 'mine' }, persist: true });
  t.equal(refused.status, 409);
  t.equal(await readFile(file, 'utf8'), '{ "tz": ', 'and is never written over');
  await replace(app.configDir, text.replace('"start"', '"mended"'));
  await until(async () => (await zone(app)) === 'mended');
  t.equal((await app.post('/config', { updates: { tz: 'mine' }, persist: true })).status, 200);
  t.match(await readFile(file, 'utf8'), '"tz": "mine"');
});

t.test('with no watches left', async t => {
  // A user name space has a limit of its own for watches.
  const limited = ['-Ur', 'sh', '-c', 'echo 1 > /proc/sys/user/max_inotify_watches && exec "$@"', 'sh'];
  const permitted = await run('unshare', [...limited, 'true']).then(
    () => true,
    () => false,
  );
  if (!permitted) {
    t.comment('user name spaces are not permitted here');
    return;
  }
  const configDir = testDir(t, {});
  const port = await writeConfig(configDir, { tz: 'start' });
  const child = spawn('unshare', [...limited, process.execPath, ...COMMAND, 'start', '--config-dir', configDir], {
    cwd: rootDir,
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  t.teardown(async () => {
    child.kill('SIGINT');
    await exited;
  });
  const base = `http://127.0.0.1:${port}`;
  const answer = async () => (await (await fetch(`${base}/config`)).json()) as { tz: string };
  await until(answer, { timeoutMs: 60_000 });
  const text = await readFile(path.join(configDir, 'stackwarden.json'), 'utf8');
  await replace(configDir, text.replace('"start"', '"polled"'));
  await until(async () => (await answer()).tz === 'polled', { what: 'the replacement, found by the poll' });
  t.equal(child.exitCode, null, 'the host lives');
});
