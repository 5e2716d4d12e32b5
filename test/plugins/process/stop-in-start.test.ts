// A stop during the start of a host also ends services that an earlier host has left running.
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { kid, lives } from '../../support/kids.ts';
import { spawnStackwarden, startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

/** A plugin that is set up before process control, and waits for a file. */
const GATE = `import { existsSync } from 'node:fs';
  import { setTimeout as delay } from 'node:timers/promises';
  export default { name: 'a-gate', host: '^1', async setup (host) {
    console.log('the gate is reached');
    while (!existsSync(host.paths.configDir + '/open')) await delay(5);
  } }`;
const PLUGINS = ['a-gate', 'process'];

const startup = async (base: string) =>
  (await (await fetch(`${base}/process/startup-status`)).json()) as { phase: string };

/** A configuration directory whose host was killed while its services ran, and the pids of those. */
async function crashed(t: Test, shutdown: Record<string, unknown>) {
  const configDir = testDir(t, { open: '', plugins: { 'a-gate': { 'index.js': GATE } } });
  const port = await writeConfig(configDir, {
    dumb: { shutdown, startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
    one: kid('One', ['calm'], { enabled: true }),
    two: kid('Two', ['ignore-term'], { enabled: true, stop_grace_seconds: 1 }),
  });
  const first = await startStackwarden(configDir, port, { plugins: PLUGINS });
  await until(async () => (await startup(first.base)).phase === 'ready', { what: 'both to run' });
  const { processes } = JSON.parse(await readFile(path.join(configDir, 'supervisor', 'state.json'), 'utf8'));
  const pids: number[] = [processes.One.pid, processes.Two.pid];
  t.teardown(async () => {
    for (const pid of pids.filter(lives)) process.kill(pid, 'SIGKILL');
    await until(() => !pids.some(lives), { what: 'their end' });
  });
  first.child.kill('SIGKILL');
  await first.exited;
  await rm(path.join(configDir, 'open'));
  return { configDir, pids };
}

t.test('a stop while plugins are loaded ends the services', async t => {
  const { configDir, pids } = await crashed(t, {});
  const second = spawnStackwarden(configDir, { args: ['start', '--plugins', PLUGINS.join()] });
  await until(() => second.stdout().includes('the gate is reached'));
  second.child.kill('SIGTERM');
  await until(() => second.stdout().includes('host: stopping'));
  await writeFile(path.join(configDir, 'open'), '');
  t.same(await second.exited, { code: 0, signal: null });
  t.same(pids.filter(lives), [], 'all were ended');
  t.match(second.stdout(), /stopping One, Two/);
  t.notMatch(second.stdout(), /answers on/, 'it did not begin to listen');
});

t.test('a stop leaves the services running if the configuration says so', async t => {
  const { configDir, pids } = await crashed(t, { keep_services: true });
  const second = spawnStackwarden(configDir, { args: ['start', '--plugins', PLUGINS.join()] });
  await until(() => second.stdout().includes('the gate is reached'));
  second.child.kill('SIGTERM');
  await writeFile(path.join(configDir, 'open'), '');
  t.same(await second.exited, { code: 0, signal: null });
  t.same(pids.filter(lives), pids);
});

t.test('a client that waits for a start is told of the shutdown', async t => {
  const configDir = testDir(t, {});
  const wait_for_dir = path.join(configDir, 'nowhere');
  const port = await writeConfig(configDir, { one: kid('One', ['calm'], { wait_for_dir }) });
  const host = await startStackwarden(configDir, port, { plugins: ['process', 'waits'] });
  const answer = fetch(`${host.base}/process/start-service`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ process_name: 'One' }),
  });
  const status = async () => (await fetch(`${host.base}/process/service-status?process_name=One`)).json();
  await until(async () => ((await status()) as { status: string }).status === 'starting', { what: 'the start' });
  host.child.kill('SIGTERM');
  const { status: code, body } = await answer.then(async given => ({ status: given.status, body: await given.json() }));
  t.match({ code, body }, { code: 503, body: { detail: 'The service is shutting down' } });
  t.same(await host.exited, { code: 0, signal: null });
});

t.test('a failed start leaves the services to the next host', async t => {
  const { configDir, pids } = await crashed(t, {});
  const second = spawnStackwarden(configDir, { args: ['start', '--plugins', [...PLUGINS, 'no-such'].join()] });
  await writeFile(path.join(configDir, 'open'), '');
  t.match(await second.exited, { code: 1 });
  t.match(second.stderr(), /no-such/);
  t.same(pids.filter(lives), pids);
});
