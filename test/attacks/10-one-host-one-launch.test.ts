// Line 10, R35, R36: one host holds a configuration directory, and what cannot be recorded is not started.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { kid, lives, pidOf, start, status, stop } from '../support/kids.ts';
import { startClaimant } from '../support/lock-claimant.ts';
import { COMMAND, startStackwarden, writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const ROUNDS = 60;
const CLAIMANTS = 6;
const PLUGINS = ['config', 'process'];
const skip = process.getuid?.() === 0 ? false : 'only root may mount and change users';
const run = promisify(execFile);

t.test('of six claims at once exactly one wins, sixty times over', async t => {
  const configDir = testDir(t);
  const claimants = await Promise.all(Array.from({ length: CLAIMANTS }, () => startClaimant(configDir)));
  t.teardown(() => {
    for (const claimant of claimants) claimant.end();
  });
  for (let round = 0; round < ROUNDS; round += 1) {
    const results = await Promise.all(claimants.map(claimant => claimant.claim()));
    const winners = claimants.filter((_claimant, index) => results[index] === null);
    if (winners.length !== 1) t.fail(`round ${round} has ${winners.length} holders: ${results}`);
    await winners[0]?.release();
  }
  await claimants[0]?.claim();
  claimants[0]?.end();
  await until(async () => (await claimants[1]?.claim()) === null, { what: 'the lock of the killed holder' });
});

t.test('a host is refused also where somebody has removed the lock of the other', async t => {
  const configDir = testDir(t);
  const claimants = await Promise.all([startClaimant(configDir), startClaimant(configDir)]);
  t.teardown(() => {
    for (const claimant of claimants) claimant.end();
  });
  const [first, second] = claimants;
  t.equal(await first?.claim(), null);
  await rm(path.join(configDir, 'supervisor'), { recursive: true });
  t.match(await second?.claim(), 'another Stackwarden runs on');
  await first?.release();
  t.equal(await second?.claim(), null);
});

t.test('a host in another PID namespace is refused', { skip }, async t => {
  const configDir = testDir(t);
  const port = await writeConfig(configDir, { kid: kid('Kid', ['calm'], { enabled: true }) });
  const first = await startStackwarden(configDir, port, { plugins: PLUGINS });
  t.teardown(async () => {
    first.child.kill('SIGTERM');
    await first.exited;
  });
  const second = spawn(
    'unshare',
    [
      '--pid',
      '--fork',
      '--kill-child',
      '--mount-proc',
      process.execPath,
      ...COMMAND,
      'start',
      '--config-dir',
      configDir,
    ],
    { cwd: path.join(import.meta.dirname, '../..'), env: { ...process.env, NODE_OPTIONS: '', TAP: '' } },
  );
  let told = '';
  second.stderr.setEncoding('utf8').on('data', (text: string) => {
    told += text;
  });
  const [code] = await once(second, 'close');
  t.equal(code, 1);
  t.match(told, `another Stackwarden (pid ${first.child.pid} on `);
  const pid = await until(
    async () => JSON.parse(await readFile(path.join(configDir, 'supervisor/state.json'), 'utf8')).processes.Kid?.pid,
  );
  const names = await readdir(`/proc/${pid}/fd`);
  const open = await Promise.all(names.map(name => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
  t.notOk(
    open.some(file => file.endsWith('host.lock')),
    'no service has the lock',
  );
});

t.test('a machine without flock is told what to install', async t => {
  const [configDir, programs] = [testDir(t), testDir(t)];
  await symlink('/bin/sh', path.join(programs, 'sh'));
  const command = [...COMMAND, 'start', '--config-dir', configDir];
  const env = { ...process.env, NODE_OPTIONS: '', TAP: '', PATH: programs };
  const cwd = path.join(import.meta.dirname, '../..');
  const ended = await run(process.execPath, command, { cwd, env }).catch((error: unknown) => error);
  t.match(ended, { code: 1, stderr: 'flock cannot be run; install util-linux or busybox' });
  const alone = await run(process.execPath, command, { cwd, env: { ...env, PATH: '' } }).catch(
    (error: unknown) => error,
  );
  t.match(alone, {
    code: 1,
    stderr: 'no directory of PATH holds sh; start Stackwarden with a PATH such as /usr/bin:/bin',
  });
});

t.test('a launch that cannot be recorded is refused, and the next host adopts what runs', { skip }, async t => {
  const configDir = testDir(t);
  const state = path.join(configDir, 'supervisor');
  await mkdir(state, { mode: 0o700 });
  await run('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=700', 'tmpfs', state]);
  const config = { first: kid('First', ['calm']), other: kid('Other', ['calm']) };
  const options = { plugins: PLUGINS, configDir };
  let app = await startHost({ ...options, config });
  t.teardown(async () => {
    await app.stop();
    await run('umount', ['--lazy', state]);
  });
  t.equal((await start(app, 'First')).status, 200);
  const pid = await pidOf(app, 'First');
  await writeFile(path.join(state, 'filler'), Buffer.alloc(1024 * 1024)).catch(() => undefined);

  const refused = await start(app, 'Other');
  t.equal(refused.status, 503);
  t.match(
    refused.body.detail,
    /Other is not started, because its (launch cannot be recorded|output cannot be kept): .*supervisor.* cannot be written \(no space left on device, or no inode\)/,
  );
  t.equal((await status(app, 'Other')).status, 'stopped');

  await app.host.stop('fault');
  t.ok(lives(pid), 'it outlives its host');
  app = await startHost(options);
  await until(async () => (await status(app, 'First')).status === 'running', { what: 'the adoption' });
  t.equal(await pidOf(app, 'First'), pid);
  t.equal((await stop(app, 'First')).status, 200, 'and is stopped on the full disk');
  t.notOk(lives(pid));
  await rm(path.join(state, 'filler'));
  t.equal((await start(app, 'Other')).status, 200, 'with space it starts');
});

t.test('so is one of which only the record cannot be written', async t => {
  const app = await startHost({ plugins: PLUGINS, config: { first: kid('First', ['calm']) } });
  t.teardown(() => app.stop());
  const inTheWay = path.join(app.configDir, 'supervisor/state.json.new');
  await mkdir(inTheWay, { recursive: true });
  t.match(await start(app, 'First'), {
    status: 503,
    body: { detail: /First is not started, because its launch cannot be recorded: .*state\.json cannot be written/ },
  });
  t.match(await status(app, 'First'), { status: 'stopped', pid: undefined });
  await rm(inTheWay, { recursive: true });
  t.equal((await start(app, 'First')).status, 200);
});

const HARMS: Readonly<Record<string, (file: string) => Promise<void>>> = {
  gone: file => rm(file),
  garbled: file => writeFile(file, '{ "version": 1, "proc'),
  'of another user': file => chown(file, 65_534, 65_534),
  'writable by others': file => chmod(file, 0o666),
};

t.test('none of ten runs twice, whatever happens to the record', { skip }, async t => {
  const configDir = testDir(t);
  const options = { plugins: PLUGINS, configDir };
  const file = path.join(configDir, 'supervisor/state.json');
  const names = Array.from({ length: 10 }, (_none, index) => `Kid ${index}`);
  const calm = { enabled: true, command: ['sleep', '600'], suppress_logging: true };
  const config = Object.fromEntries(
    names.map((name, index) => [`kid_${index}`, { ...calm, process_name: name }] as const),
  );
  let app = await startHost({ ...options, config });
  t.teardown(() => app.stop());
  const pids = async () => {
    for (const name of names) await until(async () => (await status(app, name)).status === 'running', { what: name });
    return Promise.all(names.map(name => pidOf(app, name)));
  };
  const kept = async () =>
    (await readdir(path.dirname(file))).filter(name => name.startsWith('state.json.corrupt-')).length;
  const first = await pids();
  for (const [what, harm] of Object.entries(HARMS)) {
    await app.host.stop('fault');
    const before = await kept();
    await harm(file);
    app = await startHost(options);
    t.same(await pids(), first, `the same processes when it is ${what}`);
    t.equal(await kept(), before + (what === 'gone' ? 0 : 1), 'what cannot be used is kept');
  }
  t.equal((await stop(app, 'Kid 0')).status, 200);
  t.notOk(lives(first[0] ?? 0));
});
