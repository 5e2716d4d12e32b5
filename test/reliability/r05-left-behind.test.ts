// R5: what an earlier host left behind is found again, whatever became of it meanwhile: processes, their children,
// their lines.
import { existsSync } from 'node:fs';
import { chmod, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { changeMainFile } from '../support/host-config.ts';
import { kid, lives, notedPid, status, stop } from '../support/kids.ts';
import { freePort, type RunningStackwarden, startStackwarden, writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const PLUGINS = ['config', 'process'];

type Test = Parameters<typeof testDir>[0] & { teardown(fn: () => unknown): void };

const stateOf = async (configDir: string) =>
  JSON.parse(await readFile(path.join(configDir, 'supervisor/state.json'), 'utf8'));
const pidOf = async (configDir: string, name: string): Promise<number> =>
  (await stateOf(configDir)).processes[name]?.pid;
const statusOf = async ({ base }: RunningStackwarden, name: string): Promise<string> =>
  ((await (await fetch(`${base}/process/service-status?process_name=${name}`)).json()) as { status: string }).status;

/** A host with one service that runs, killed with SIGKILL. */
async function killedHost(t: Test, block: (dir: string) => Record<string, unknown>) {
  const configDir = testDir(t, { places: {} });
  for (const place of ['', 'places']) await chmod(path.join(configDir, place), 0o777);
  const port = await writeConfig(configDir, { kid: block(configDir) });
  const first = await startStackwarden(configDir, port, { plugins: PLUGINS });
  await until(async () => (await statusOf(first, 'Kid')) === 'running', { what: 'the service' });
  const pid = await pidOf(configDir, 'Kid');
  first.child.kill('SIGKILL');
  await first.exited;
  t.teardown(() => {
    if (lives(pid)) process.kill(-pid, 'SIGKILL');
  });
  const again = async (): Promise<RunningStackwarden> => {
    const service = await startStackwarden(configDir, port, { plugins: PLUGINS });
    t.teardown(async () => {
      service.child.kill('SIGTERM');
      await service.exited;
    });
    return service;
  };
  return { configDir, pid, port, again };
}

t.test('the last lines of one that ended while no host ran', async t => {
  const script = 'echo up; while [ ! -e places/go ]; do sleep 0.1; done; echo "FATAL the reason of $$"; exit 3';
  const { configDir, pid, again } = await killedHost(t, dir => ({
    ...kid('Kid', [], { enabled: true, config_dir: dir, log_file: path.join(dir, 'log/kid.log') }),
    command: ['sh', '-c', script],
  }));
  const { spool } = (await stateOf(configDir)).processes.Kid;
  await writeFile(path.join(configDir, 'places/go'), '');
  await until(() => !lives(pid), { what: 'the end of the service' });
  await again();
  const log = path.join(configDir, 'log/kid.log');
  await until(async () => (await readFile(log, 'utf8')).includes(`FATAL the reason of ${pid}`), {
    what: 'its last line',
  });
  t.equal((await readFile(log, 'utf8')).split(`FATAL the reason of ${pid}`).length, 2, 'once');
  await until(() => !existsSync(spool), { what: 'the removal of its output' });
});

t.test('a child that outlived its leader while no host ran is ended before the next start', async t => {
  const { configDir, pid, again } = await killedHost(t, dir =>
    kid('Kid', ['stubborn-child', path.join(dir, 'places/child')], { enabled: true }),
  );
  const child = await notedPid(path.join(configDir, 'places/child'));
  t.teardown(() => {
    if (lives(child)) process.kill(child, 'SIGKILL');
  });
  process.kill(pid, 'SIGTERM');
  await until(() => !lives(pid), { what: 'the end of the leader' });
  t.ok(lives(child));
  const service = await again();
  await until(async () => (await statusOf(service, 'Kid')) === 'running', { what: 'the next start' });
  t.notOk(lives(child));
  t.not(await pidOf(configDir, 'Kid'), pid);
});

t.test('a child that does not end holds back none but the services that need its place', async t => {
  const configDir = testDir(t, {});
  await chmod(configDir, 0o777);
  const file = path.join(configDir, 'child');
  const port = await writeConfig(configDir, {
    kid: kid('Kid', ['stubborn-child', file], { enabled: true, stop_grace_seconds: 600 }),
    calm: kid('Calm', ['calm'], { enabled: true }),
    after: kid('After', ['calm'], { enabled: true, depends_on: { Kid: 'started' } }),
  });
  const first = await startStackwarden(configDir, port, { plugins: [...PLUGINS, 'signal-depends-on'] });
  await until(async () => (await statusOf(first, 'After')) === 'running', { what: 'all services' });
  const pids = await Promise.all(['Kid', 'Calm', 'After'].map(name => pidOf(configDir, name)));
  first.child.kill('SIGKILL');
  await first.exited;
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await until(() => !pids.some(lives), { what: 'the end of the leaders' });
  const left = await notedPid(file);
  t.teardown(() => {
    if (lives(left)) process.kill(left, 'SIGKILL');
  });

  const second = await startStackwarden(configDir, port, { plugins: [...PLUGINS, 'signal-depends-on'] });
  t.teardown(async () => {
    second.child.kill('SIGTERM');
    await second.exited;
  });
  await until(async () => (await statusOf(second, 'Calm')) === 'running', { what: 'a service that needs nothing' });
  t.ok(lives(left));
  t.equal(await statusOf(second, 'Kid'), 'unknown');
  t.not(await statusOf(second, 'After'), 'running');
  process.kill(left, 'SIGKILL');
  await until(async () => (await statusOf(second, 'After')) === 'running', { what: 'the others' });
  t.equal(await statusOf(second, 'Kid'), 'running');
  const { spool } = (await stateOf(configDir)).processes.Kid;
  t.ok(existsSync(spool), 'its new output is not taken for a leftover');
  const next = await until(async () => [await notedPid(file)].find(pid => pid !== left), { what: 'the next child' });
  process.kill(next, 'SIGKILL');
});

t.test('a hand-over while such children are ended is no fault', async t => {
  const configDir = testDir(t, {});
  await chmod(configDir, 0o777);
  const names = ['Kid', 'Gone'];
  const files = names.map(name => path.join(configDir, name));
  const [one, two] = names.map((name, index) =>
    kid(name, ['stubborn-child', files[index] ?? ''], { enabled: true, stop_grace_seconds: 600 }),
  );
  const dumb = { shutdown: { keep_services: true } };
  const port = await writeConfig(configDir, { dumb, kid: one, gone: two });
  const first = await startStackwarden(configDir, port, { plugins: PLUGINS });
  for (const name of names) await until(async () => (await statusOf(first, name)) === 'running', { what: name });
  const pids = await Promise.all(names.map(name => pidOf(configDir, name)));
  first.child.kill('SIGKILL');
  await first.exited;
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  const left = await Promise.all(files.map(notedPid));
  t.teardown(() => {
    for (const pid of left) if (lives(pid)) process.kill(pid, 'SIGKILL');
  });
  await changeMainFile(configDir, ({ gone: _gone, ...rest }) => rest);

  const second = await startStackwarden(configDir, port, { plugins: PLUGINS });
  const restarted = fetch(`${second.base}/process/restart-service`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ process_name: 'Kid' }),
  });
  await until(() => second.stdout().includes('Kid: restart asked for'), { what: 'the request' });
  second.child.kill('SIGTERM');
  await second.exited;
  await restarted.catch(() => undefined);
  t.notMatch(second.stdout(), ' - ERROR - ');
  t.ok(left.every(lives));
  t.same(Object.keys((await stateOf(configDir)).processes).sort(), names.sort(), 'the next host knows them');
});

t.test('the port of one whose entry is gone is free for the next', async t => {
  const web = await freePort();
  const block = (name: string) => kid(name, ['web'], { enabled: true, port: web, env: { PORT: '{port}' } });
  const { configDir, pid, again } = await killedHost(t, () => block('Kid'));
  await changeMainFile(configDir, ({ kid: _gone, ...rest }) => ({ ...rest, other: block('Other') }));
  const service = await again();
  await until(async () => (await statusOf(service, 'Other')) === 'running', { what: 'the other service' });
  t.notOk(lives(pid));
  t.equal(JSON.parse(await readFile(path.join(configDir, 'stackwarden.json'), 'utf8')).other.port, web);
});

t.test('one whose entry is gone is stopped', async t => {
  const { configDir, pid, again } = await killedHost(t, () => kid('Kid', ['calm'], { enabled: true }));
  const file = path.join(configDir, 'stackwarden.json');
  const { kid: _gone, ...rest } = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify(rest));
  const service = await again();
  await until(() => !lives(pid), { what: 'the end of what nobody asks for any more' });
  await until(async () => (await stateOf(configDir)).processes.Kid === undefined);
  t.match(service.stdout(), `Kid is still running as pid ${pid} and was adopted`);
});

t.test('one whose entry is gone is stopped as it asked to be, and its last lines are in its own log', async t => {
  const script = 'for one in INT TERM; do trap "echo told by $one" $one; done; while :; do echo said; sleep 0.1; done';
  const { configDir, pid, again } = await killedHost(t, dir => ({
    ...kid('Kid', [], { enabled: true, log_file: path.join(dir, 'log/of-kid.log'), stop_signal: 'SIGINT' }),
    command: ['sh', '-c', script],
  }));
  t.match((await stateOf(configDir)).processes.Kid.block, { stop_signal: 'SIGINT', stop_grace_seconds: 1 });
  await changeMainFile(configDir, ({ kid: _gone, ...rest }) => rest);
  const { stdout } = await again();
  await until(() => !lives(pid), { what: 'the end of what ignores its signal, after its own grace' });
  const log = path.join(configDir, 'log/of-kid.log');
  await until(async () => (await readFile(log, 'utf8')).includes('told by INT'), { what: 'the last lines' });
  t.notMatch(await readFile(log, 'utf8'), 'told by TERM');
  await until(async () => (await stateOf(configDir)).processes.Kid === undefined);
  t.notMatch(stdout(), 'Kid subprocess', 'what is kept out of the own log stays so');
});

t.test('a configuration that cannot be read ends nothing, and once mended finds it again', async t => {
  const { configDir, pid } = await killedHost(t, () => kid('Kid', ['calm'], { enabled: true }));
  const file = path.join(configDir, 'stackwarden.json');
  const text = await readFile(file, 'utf8');
  await rm(`${file}.bak`, { force: true });
  await writeFile(file, '{ "dumb": ');
  const app = await startHost({ configDir });
  t.teardown(() => app.stop());
  await until(async () => (await app.get('/process/startup-status')).body.terminal, { what: 'the end of the start' });
  t.ok(lives(pid));
  t.equal(await pidOf(configDir, 'Kid'), pid, 'its record stays');
  await writeFile(`${file}~`, text);
  await rename(`${file}~`, file);
  await until(async () => (await status(app, 'Kid')).status === 'running', { what: 'the service to be found again' });
  t.equal((await status(app, 'Kid')).pid ?? (await pidOf(configDir, 'Kid')), pid);
  t.equal((await stop(app, 'Kid')).status, 200);
  t.notOk(lives(pid));
});

t.test('one that was launched in the very moment in which the host was killed', async t => {
  const { configDir, pid, again } = await killedHost(t, () => kid('Kid', ['calm'], { enabled: true }));
  const state = await stateOf(configDir);
  // As it stands between the launch and the record of its outcome.
  Object.assign(state.processes.Kid, { pid: 0, pgid: 0, start_time: 0 });
  await writeFile(path.join(configDir, 'supervisor/state.json'), JSON.stringify(state));
  const service = await again();
  await until(async () => (await statusOf(service, 'Kid')) === 'running', { what: 'the service' });
  await until(async () => (await pidOf(configDir, 'Kid')) !== 0, { what: 'the record of the pid' });
  t.equal(await pidOf(configDir, 'Kid'), pid, 'the same process, not a second one');
});
