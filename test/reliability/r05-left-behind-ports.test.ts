// R5: a service waits for what an earlier host left behind on a port from which it would move otherwise, and nothing
// else waits for that.
import { chmod, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../support/directory.ts';
import { changeMainFile } from '../support/host-config.ts';
import { kid, lives, notedPid } from '../support/kids.ts';
import { ownLogText } from '../support/own-log.ts';
import { freePort, type RunningStackwarden, startStackwarden, writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const PLUGINS = ['config', 'process'];

/** A service whose child listens, and does not end when it is asked to. */
const HOLDER = `
  const [port, file] = process.argv.slice(1);
  const source = \`process.on('SIGTERM', () => undefined);
    require('node:net').createServer().listen(\${port}, '127.0.0.1', () =>
      require('node:fs').writeFileSync('\${file}', String(process.pid)));\`;
  require('node:child_process').spawn(process.execPath, ['-e', source], { stdio: 'inherit' });
  setInterval(() => undefined, 60_000);
`;

const statusOf = async ({ base }: RunningStackwarden, name: string): Promise<string> =>
  ((await (await fetch(`${base}/process/service-status?process_name=${name}`)).json()) as { status: string }).status;
const configOf = async (dir: string) => JSON.parse(await readFile(path.join(dir, 'stackwarden.json'), 'utf8'));

/** A host whose earlier one was killed with the leader of `Kid`, but not the child of that, whose pid is in `child`. */
async function afterKill(
  t: Test,
  block: (file: string) => Record<string, unknown>,
  others: Record<string, Record<string, unknown>>,
) {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const file = path.join(dir, 'child');
  const port = await writeConfig(dir, { kid: { ...block(file), enabled: true, stop_grace_seconds: 600 } });
  const first = await startStackwarden(dir, port, { plugins: PLUGINS });
  const left = await notedPid(file);
  t.teardown(() => {
    if (lives(left)) process.kill(left, 'SIGKILL');
  });
  await until(async () => (await statusOf(first, 'Kid')) === 'running', { what: 'the service' });
  const state = JSON.parse(await readFile(path.join(dir, 'supervisor/state.json'), 'utf8'));
  first.child.kill('SIGKILL');
  await first.exited;
  process.kill(state.processes.Kid.pid, 'SIGKILL');
  await changeMainFile(dir, config => ({ ...config, kid: { ...(config.kid as object), enabled: false }, ...others }));
  const second = await startStackwarden(dir, port, { plugins: PLUGINS });
  t.teardown(async () => {
    if (lives(left)) process.kill(left, 'SIGKILL');
    second.child.kill('SIGTERM');
    await second.exited;
  });
  return { dir, second, left };
}

t.test('one that holds no port delays no move from a port that others hold', async t => {
  const taken = await freePort();
  const server = createServer().listen(taken, '127.0.0.1');
  t.teardown(() => server.close());
  const { dir, second, left } = await afterKill(t, file => kid('Kid', ['stubborn-child', file]), {
    other: kid('Other', ['calm'], { enabled: true, port: taken }),
  });
  await until(async () => (await statusOf(second, 'Other')) === 'running', { what: 'the other service' });
  t.ok(lives(left));
  t.ok((await configOf(dir)).other.port > taken);
});

t.test('one that listens on a port which its entry does not name keeps others from moving', async t => {
  const web = await freePort();
  const own = await freePort();
  const block = (file: string) => ({
    ...kid('Kid', []),
    command: [process.execPath, '-e', HOLDER, String(web), file],
  });
  const { dir, second, left } = await afterKill(t, block, {
    other: kid('Other', ['web'], { enabled: true, port: web, env: { PORT: '{port}' } }),
    third: kid('Third', ['calm'], { enabled: true, port: own }),
  });
  await until(async () => (await statusOf(second, 'Third')) === 'running', {
    what: 'a service with a port of its own',
  });
  await until(
    async () => /waits for the end of what Kid left on its port/.test(await ownLogText(path.join(dir, 'log'))),
    { what: 'the wait' },
  );
  t.equal(await statusOf(second, 'Kid'), 'unknown');
  t.ok(lives(left));
  process.kill(left, 'SIGKILL');
  await until(async () => (await statusOf(second, 'Other')) === 'running', { what: 'the other service' });
  t.equal((await configOf(dir)).other.port, web);
});
