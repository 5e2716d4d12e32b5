// R5 and R12: a killed host's children are adopted, never doubled; a shutdown says who still lives and always ends.
import { chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { lookAround } from '../../plugins/process/supervise/proc-table.ts';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { changeMainFile } from '../support/host-config.ts';
import { kid, lives, notedPid, start } from '../support/kids.ts';
import { withNeeds } from '../support/needs.ts';
import { type RunningStackwarden, spawnStackwarden, startStackwarden, writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const PLUGINS = ['config', 'process'];

interface Status {
  readonly status: string;
  readonly restart: { readonly exit_code: number | null };
}

const ask = async (service: RunningStackwarden, name: string): Promise<Status> => {
  const answer = await fetch(`${service.base}/process/service-status?include_health=true&process_name=${name}`);
  return (await answer.json()) as Status;
};

const pidOf = async (configDir: string, name: string): Promise<number> =>
  JSON.parse(await readFile(path.join(configDir, 'supervisor', 'state.json'), 'utf8')).processes[name]?.pid;

const running = (service: RunningStackwarden, name: string) =>
  until(async () => (await ask(service, name)).status === 'running');

/** A configuration directory, and a file in it that any service may write. */
async function openDirectory(t: Parameters<typeof testDir>[0]) {
  const configDir = testDir(t, { places: {} });
  await chmod(configDir, 0o755);
  await chmod(path.join(configDir, 'places'), 0o777);
  return { configDir, file: path.join(configDir, 'places', 'pid') };
}

t.test('R5: killed with SIGKILL and started again', async t => {
  const configDir = testDir(t, {});
  const port = await writeConfig(configDir, { kid: kid('Kid', ['calm'], { enabled: true }) });
  const first = await startStackwarden(configDir, port, { plugins: PLUGINS });
  await running(first, 'Kid');
  const pid = await pidOf(configDir, 'Kid');
  first.child.kill('SIGKILL');
  await first.exited;
  t.ok(lives(pid));

  const second = await startStackwarden(configDir, port, { plugins: PLUGINS });
  await running(second, 'Kid');
  t.equal(await pidOf(configDir, 'Kid'), pid, 'the same process');
  t.equal(lookAround().processes.filter(({ pgid }) => pgid === pid).length, 1);
  // The boot starts what ends before it is over.
  const isBooted = async () => {
    const answer = await fetch(`${second.base}/process/startup-status`);
    return ((await answer.json()) as { terminal: boolean }).terminal;
  };
  await until(isBooted, { what: 'the end of the boot' });
  t.ok(second.stdout().includes('was adopted'));
  process.kill(pid, 'SIGTERM');
  await until(async () => (await ask(second, 'Kid')).status === 'stopped', { what: 'the exit of an adopted process' });
  t.match(await ask(second, 'Kid'), { restart: { exit_code: null } });
  second.child.kill('SIGTERM');
  t.same(await second.exited, { code: 0, signal: null });
});

t.test('R5: what is adopted with another block than it was started with is told', async t => {
  const configDir = testDir(t, {});
  const port = await writeConfig(configDir, {
    kid: kid('Kid', ['calm'], { enabled: true }),
    same: kid('Same', ['calm']),
    planned: kid('Planned', ['calm'], { enabled: true, schedule: '0 0 29 2 *' }),
  });
  const options = { plugins: [...PLUGINS, 'schedules'] };
  const first = await startStackwarden(configDir, port, options);
  const post = async (route: string, name: string) => {
    const { status } = await fetch(`${first.base}${route}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ process_name: name }),
    });
    t.equal(status, 200, `${route} of ${name}`);
  };
  for (const name of ['Same', 'Planned']) await post('/process/start-service', name);
  await running(first, 'Kid');
  first.child.kill('SIGKILL');
  await first.exited;

  await changeMainFile(configDir, config => ({
    ...config,
    kid: kid('Kid', ['calm'], { enabled: true, env: { A: 'b' } }),
  }));
  const second = await startStackwarden(configDir, port, options);
  const flagged = async () => {
    const answer = await fetch(`${second.base}/process/processes`);
    const { processes } = (await answer.json()) as {
      readonly processes: readonly { readonly process_name: string; readonly restart_required?: true }[];
    };
    return processes.filter(entry => entry.restart_required === true).map(entry => entry.process_name);
  };
  for (const name of ['Kid', 'Same', 'Planned']) await running(second, name);
  t.same(await flagged(), ['Kid']);
  await post('/process/restart-service', 'Kid');
  t.same(await flagged(), []);
  second.child.kill('SIGTERM');
  await second.exited;
});

t.test('R5: neither a log that others remove nor lost output keeps a process from being adopted', async t => {
  const names = ['Kid', 'Kid 2', 'Kid 3'];
  const configDir = testDir(t, {});
  const logDir = path.join(configDir, 'log');
  const blocks = names.map(name => [
    name.replace(' ', '_').toLowerCase(),
    kid(name, ['calm'], { enabled: true, log_file: path.join(logDir, `${name.replace(' ', '-').toLowerCase()}.log`) }),
  ]);
  const port = await writeConfig(configDir, Object.fromEntries(blocks));
  const first = await startStackwarden(configDir, port, { plugins: PLUGINS });
  for (const name of names) await running(first, encodeURIComponent(name));
  const pids = await Promise.all(names.map(name => pidOf(configDir, name)));
  await until(async () => (await readdir(logDir)).includes('kid-2.log'), { what: 'the first line of a log' });
  first.child.kill('SIGKILL');
  await first.exited;
  await symlink(path.join(logDir, 'gone'), path.join(logDir, 'kid-2026-01-01_1.log'));
  await symlink(path.join(logDir, 'gone'), path.join(logDir, 'kid-2-2026-01-01.log'));
  const state = JSON.parse(await readFile(path.join(configDir, 'supervisor', 'state.json'), 'utf8'));
  await rm(state.processes['Kid 2'].spool);
  await mkdir(state.processes['Kid 2'].spool);

  const second = await startStackwarden(configDir, port, { plugins: PLUGINS });
  t.teardown(async () => {
    second.child.kill('SIGTERM');
    await second.exited;
    for (const pid of pids.filter(lives)) process.kill(pid, 'SIGKILL');
  });
  for (const name of names) await running(second, encodeURIComponent(name));
  t.same(await Promise.all(names.map(name => pidOf(configDir, name))), pids, 'the same processes');
  t.match(second.stdout(), 'output of Kid 2 is lost until its next start');
  second.child.kill('SIGTERM');
  t.same(await second.exited, { code: 0, signal: null });
  t.notOk(pids.some(lives), 'they are stopped as any other');
});

t.test('keep_services hands over on SIGTERM; without it everything stops', async t => {
  const configDir = testDir(t, {});
  const log_dir = path.join(configDir, 'log');
  const block = kid('Kid', ['calm'], { enabled: true });
  const keeping = await writeConfig(configDir, {
    dumb: { log_dir, shutdown: { keep_services: true }, gateway: { enabled: false } },
    kid: block,
  });
  const api = { api_service: { port: keeping }, log_dir, gateway: { enabled: false } };
  const write = (shutdown: object) =>
    writeFile(
      path.join(configDir, 'stackwarden.json'),
      JSON.stringify({ puid: 65_534, pgid: 65_534, dumb: { ...api, shutdown }, kid: block }),
    );
  await write({ keep_services: true });
  const first = await startStackwarden(configDir, keeping, { plugins: PLUGINS });
  await running(first, 'Kid');
  const pid = await pidOf(configDir, 'Kid');
  first.child.kill('SIGTERM');
  t.same(await first.exited, { code: 0, signal: null });
  t.ok(lives(pid), 'the service runs on');
  t.match(first.stdout(), /left running, for the next start to adopt: Kid$/m);
  await write({});
  const second = await startStackwarden(configDir, keeping, { plugins: PLUGINS });
  await running(second, 'Kid');
  t.equal(await pidOf(configDir, 'Kid'), pid);
  second.child.kill('SIGTERM');
  t.same(await second.exited, { code: 0, signal: null });
  t.notOk(lives(pid), 'now it was stopped');
});

t.test('R12: a process that ignores SIGTERM is named each second and does not hold the end up', async t => {
  const { configDir, file } = await openDirectory(t);
  const port = await writeConfig(configDir, {
    kid: kid('Stubborn Kid', ['ignore-term', file], { enabled: true, stop_grace_seconds: 3 }),
  });
  const service = await startStackwarden(configDir, port, { plugins: PLUGINS });
  await until(async () => (await ask(service, 'Stubborn+Kid')).status === 'running');
  const pid = await notedPid(file);
  service.child.kill('SIGTERM');
  t.same(await service.exited, { code: 0, signal: null });
  t.match(service.stdout(), new RegExp(`still alive: Stubborn Kid \\(${pid}\\)`));
  t.notOk(lives(pid));
});

t.test('R12: a second signal ends everything at once, with exit code 1', async t => {
  const { configDir, file } = await openDirectory(t);
  const port = await writeConfig(configDir, {
    kid: kid('Kid', ['ignore-term', file], { enabled: true, stop_grace_seconds: 600 }),
  });
  const service = await startStackwarden(configDir, port, { plugins: PLUGINS });
  await running(service, 'Kid');
  const pid = await notedPid(file);
  service.child.kill('SIGTERM');
  await until(() => service.stdout().includes('still alive'));
  // Whoever presses a key until it helps is told once.
  const again = setInterval(() => service.child.kill('SIGTERM'), 2);
  t.teardown(() => clearInterval(again));
  t.equal((await service.exited).code, 1);
  await until(() => !lives(pid));
  const [why, killed, last] = service.stdout().trimEnd().split('\n').slice(-3);
  t.match(why, /WARNING - host: stopping at once, because of a second signal$/);
  t.match(killed, /WARNING - process: killed: Kid$/);
  t.match(last, /INFO - host: Stackwarden \S+ has stopped$/);
});

/** Of a plugin whose set-up does not end, in a start that finds what an earlier host has left. */
interface SlowStart {
  readonly name: string;
  readonly after: readonly string[];
  readonly lose?: (configDir: string) => Promise<unknown>;
}

async function startSlowly(t: Test, { name, after, lose }: SlowStart) {
  const configDir = testDir(t, { plugins: { [name]: {} } });
  const port = await writeConfig(configDir, { kid: kid('Kid', ['calm'], { enabled: true }) });
  const first = await startStackwarden(configDir, port, { plugins: PLUGINS });
  await running(first, 'Kid');
  const pid = await pidOf(configDir, 'Kid');
  t.teardown(() => lives(pid) && process.kill(pid, 'SIGKILL'));
  first.child.kill('SIGKILL');
  await first.exited;
  await lose?.(configDir);

  const slow = `export default { name: '${name}', host: '^1', after: ${JSON.stringify(after)}, setup () {
    console.log('slow is being set up'); return new Promise(() => {})
  } }`;
  await writeFile(path.join(configDir, 'plugins', name, 'index.js'), slow);
  const plugins = (await withNeeds(PLUGINS)).join(',');
  // Without the pace of tests, at which the loading is cut short before a second signal counts as one.
  const second = spawnStackwarden(configDir, { args: ['--plugins', `${plugins},${name}`] });
  await until(() => second.stdout().includes('slow is being set up'), { what: 'a start that takes long' });
  return { second, pid };
}

const slowStarts: Record<string, SlowStart> = {
  'is recorded': { name: 'slow', after: ['process'] },
  'has lost its record': {
    name: 'slow',
    after: ['process'],
    lose: configDir => rm(path.join(configDir, 'supervisor', 'state.json')),
  },
  'nobody claims': {
    name: 'slow',
    after: ['process'],
    lose: configDir => writeFile(path.join(configDir, 'stackwarden.json'), '{ "puid": 0 }'),
  },
  'comes after a plugin that hangs': { name: 'a-slow', after: [] },
};
for (const [what, slow] of Object.entries(slowStarts)) {
  t.test(`R12: a second signal during a start also ends what an earlier host left and ${what}`, async t => {
    const { second, pid } = await startSlowly(t, slow);
    const again = setInterval(() => second.child.kill('SIGTERM'), 200);
    t.teardown(() => clearInterval(again));
    t.equal((await second.exited).code, 1, second.stdout());
    await until(() => !lives(pid), { what: 'its end' });
    t.match(second.stdout(), /WARNING - process: killed: Kid$/m);
  });
}

t.test('R12: so does a stop that comes while another plugin hangs', async t => {
  const { second, pid } = await startSlowly(t, { name: 'a-slow', after: [] });
  second.child.kill('SIGTERM');
  t.equal((await second.exited).code, 0, second.stdout());
  t.notOk(lives(pid));
});

t.test('R12: a second signal leaves alone what is kept', async t => {
  const app = await startHost({
    plugins: PLUGINS,
    config: { dumb: { shutdown: { keep_services: true } }, kid: kid('Kid', ['calm']) },
  });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'Kid')).status, 200);
  const pid = await pidOf(app.configDir, 'Kid');
  t.teardown(() => process.kill(pid, 'SIGKILL'));
  const stopped = app.host.stop();
  await app.host.force();
  await stopped;
  t.ok(lives(pid));
});
