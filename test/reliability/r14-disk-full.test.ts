// R14: the disk is full: saves are refused in a clear sentence, files stay valid, running services go on.
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { kid, pidOf, restart, start, status, stop } from '../support/kids.ts';
import { ownLogText } from '../support/own-log.ts';
import { startStackwarden, writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const PLUGINS = ['config', 'process', 'health'];

const run = promisify(execFile);
const skip = process.getuid?.() === 0 ? false : 'only root may mount';

/** Of this process, which is the host's. */
async function openFiles(pattern: RegExp): Promise<string[]> {
  const descriptors = await readdir('/proc/self/fd');
  const files = await Promise.all(descriptors.map(name => readlink(`/proc/self/fd/${name}`).catch(() => '')));
  return files.filter(file => pattern.test(file));
}

t.test('configuration, state and services', { skip }, async t => {
  const outside = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
  const small = path.join(outside, 'small');
  const beats = path.join(outside, 'beats');
  await chmod(outside, 0o755);
  await mkdir(small);
  await writeFile(beats, '');
  await chmod(beats, 0o666);
  await run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', small]);
  const ticker = ['sh', '-c', `i=0; while :; do echo number $i; echo $i > ${beats}; i=$((i+1)); sleep 0.05; done`];
  const app = await startHost({
    plugins: PLUGINS,
    configDir: small,
    config: {
      ticker: { ...kid('Ticker', []), command: ticker, log_file: path.join(small, 'log', 'ticker.log') },
      other: kid('Other', ['calm']),
    },
  });
  t.teardown(async () => {
    await app.stop();
    await run('umount', ['--lazy', small]);
    await rm(outside, { recursive: true });
  });
  const file = path.join(small, 'stackwarden.json');
  t.equal((await start(app, 'Ticker')).status, 200);
  const before = await readFile(file, 'utf8');
  const filler = path.join(small, 'filler');
  await writeFile(filler, Buffer.alloc(2 * 1024 * 1024)).catch(() => undefined);

  const updates = { dumb: { note: 'x'.repeat(20_000) } };
  const refused = await app.post('/config', { updates, persist: true });
  t.equal(refused.status, 503);
  t.equal(refused.body.detail, `${file} cannot be saved (the disk is full, or has no inode left); nothing was changed`);
  t.equal(await readFile(file, 'utf8'), before, 'the file is as it was');
  t.same(
    (await readdir(small)).filter(name => name.endsWith('.tmp')),
    [],
    'and nothing lies beside it',
  );
  t.equal((await app.get('/config')).body.dumb.note, undefined, 'so is memory');
  t.equal((await app.post('/config', { updates, persist: false })).status, 200, 'memory takes it');

  const beat = Number(await readFile(beats, 'utf8'));
  await until(async () => Number(await readFile(beats, 'utf8')) > beat + 3, { what: 'the service to go on' });
  t.equal((await status(app, 'Ticker')).status, 'running');
  const started = await start(app, 'Other');
  t.ok([200, 500, 503].includes(started.status), 'a start works or is refused');
  if (started.status !== 200) {
    t.type(started.body.detail, 'string');
    t.same(await openFiles(/\/other-[^/]*\.spool/), [], 'nothing of it stays open');
  }
  t.ok(JSON.parse(await readFile(path.join(small, 'supervisor', 'state.json'), 'utf8')).processes.Ticker);
  t.equal((await app.get('/health')).status, 200);

  await rm(filler);
  t.equal((await app.post('/config', { updates, persist: true })).status, 200, 'with space it works again');
  t.equal(JSON.parse(await readFile(file, 'utf8')).dumb.note.length, 20_000);
  t.equal((await stop(app, 'Ticker')).status, 200);
  t.equal((await start(app, 'Other')).status, 200);
});

/** A tmpfs without room; `empty` makes some. */
async function fullDisk(t: Test, options = 'size=1m') {
  const small = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
  await run('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', small]);
  await chmod(small, 0o755);
  t.teardown(async () => {
    await run('umount', ['--lazy', small]);
    await rm(small, { recursive: true });
  });
  const filler = path.join(small, 'filler');
  return {
    small,
    fill: () => writeFile(filler, Buffer.alloc(8 * 1024 * 1024), { flag: 'a' }).catch(() => undefined),
    empty: () => rm(filler),
  };
}

t.test('a first start without room for its configuration leaves none that is empty', { skip }, async t => {
  const { small, fill, empty } = await fullDisk(t);
  await fill();
  const plugins = ['config'];
  await t.rejects(startHost({ plugins, configDir: small }), { code: 'ENOSPC' });
  t.same(await readdir(small), ['filler']);
  await empty();
  const app = await startHost({ plugins, configDir: small });
  t.teardown(() => app.stop());
  t.equal(await readFile(path.join(small, 'stackwarden.json'), 'utf8'), '{}\n');
});

t.test('what a boot cannot record is started as soon as there is room, in order', { skip }, async t => {
  const { small, fill, empty } = await fullDisk(t);
  const [disk, elsewhere] = [testDir(t), testDir(t)];
  const order = path.join(elsewhere, 'order');
  await writeFile(order, '');
  await chmod(elsewhere, 0o755);
  await chmod(order, 0o666);
  const service = (name: string, more: object = {}) => ({
    ...kid(name, []),
    enabled: true,
    command: ['sh', '-c', `echo ${name} >> ${order}; exec sleep 600`],
    config_dir: elsewhere,
    ...more,
  });
  await writeFile(
    path.join(small, 'stackwarden.json'),
    JSON.stringify({
      puid: 65_534,
      pgid: 65_534,
      dumb: { log_dir: disk, gateway: { enabled: false }, startup: { stabilization_seconds: 0 } },
      second: service('Second', { depends_on: ['First'] }),
      first: service('First'),
      stopped: service('Stopped'),
    }),
  );
  await fill();
  const app = await startHost({ plugins: PLUGINS, configDir: small });
  t.teardown(() => app.stop());
  const reasonOf = async (name: string) => (await app.get('/process/startup-status')).body.services[name]?.reason;
  for (const name of ['First', 'Stopped'])
    await until(async () => /no space left on device/.test(await reasonOf(name)), { what: `why ${name} is down` });
  t.equal((await stop(app, 'Stopped')).status, 200);
  const isTold = async () => (await ownLogText(disk)).includes('process: First is started as soon as that has passed');
  await until(isTold, { what: 'the log to tell it' });
  t.notOk(
    (await readdir(path.join(small, 'supervisor'))).some(name => name.includes('.spool')),
    'nothing of it is left',
  );

  await empty();
  await until(async () => (await status(app, 'Second')).status === 'running', { what: 'both to run' });
  t.equal(await readFile(order, 'utf8'), 'First\nSecond\n');
  await until(async () => (await app.get('/process/startup-status')).body.phase === 'ready', {
    what: 'a boot that is well',
  });
  t.equal((await status(app, 'Stopped')).status, 'stopped', 'who has stopped it meanwhile has decided');
});

t.test('what is stopped on a full disk stays stopped when the host is killed', { skip }, async t => {
  const { small, fill, empty } = await fullDisk(t, 'size=8m');
  // Their records take more room than the end of one of them gives back.
  const names = Array.from({ length: 30 }, (_none, index) => `Kid ${index} ${'x'.repeat(200)}`);
  const port = await writeConfig(small, {
    dumb: { log_dir: testDir(t) },
    ...Object.fromEntries(names.map((name, index) => [`kid_${index}`, kid(name, ['calm'], { enabled: true })])),
  });
  const first = await startStackwarden(small, port, { plugins: PLUGINS });
  const statusOf = async (base: string, name: string) => {
    const answer = await fetch(`${base}/process/service-status?process_name=${encodeURIComponent(name)}`);
    return ((await answer.json()) as { status: string }).status;
  };
  for (const name of names)
    await until(async () => (await statusOf(first.base, name)) === 'running', { what: 'all to run' });
  const ask = (base: string, what: string, name: string) =>
    fetch(`${base}/process/${what}-service`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ process_name: name }),
    });
  await fill();
  const stopped = names.slice(0, 5);
  for (const name of stopped) {
    t.equal((await ask(first.base, 'stop', name)).status, 200);
    // What becomes free is taken at once, as by logs.
    await fill();
  }
  first.child.kill('SIGKILL');
  await first.exited;
  const second = await startStackwarden(small, port, { plugins: PLUGINS });
  await until(async () => (await statusOf(second.base, names[29] ?? '')) === 'running', {
    what: 'the rest to be adopted',
  });
  for (const name of stopped) t.equal(await statusOf(second.base, name), 'stopped');
  await empty();
  t.equal((await ask(second.base, 'start', names[0] ?? '')).status, 200);
  second.child.kill('SIGTERM');
  t.equal((await second.exited).code, 0);
});

t.test('starts on a full disk keep the backups of the configuration', { skip }, async t => {
  const { small, fill, empty } = await fullDisk(t);
  const file = path.join(small, 'stackwarden.json');
  const backups = ['.bak', '.bak.1', '.bak.2', '.bak.3', '.bak.4'].map(end => file + end);
  for (const [age, backup] of backups.entries()) await writeFile(backup, JSON.stringify({ age }));
  const texts = () => Promise.all(backups.map(backup => readFile(backup, 'utf8').catch(() => null)));
  const [newest, ...older] = await texts();
  await writeFile(file, JSON.stringify({ dumb: { gateway: { enabled: false } } }));
  await fill();
  for (let starts = 0; starts < 3; starts += 1) await (await startHost({ plugins: PLUGINS, configDir: small })).stop();
  t.same(await texts(), [newest, ...older]);
  await empty();
  await (await startHost({ plugins: PLUGINS, configDir: small })).stop();
  t.same((await texts()).slice(1), [newest, ...older.slice(0, -1)]);
  t.same(
    (await readdir(small)).filter(name => /\.(?:new|tmp)$/.test(name)),
    [],
  );
});

t.test('users that cannot be saved say why', { skip }, async t => {
  const small = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
  await run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', small]);
  const app = await startHost({ plugins: [...PLUGINS, 'auth'], configDir: small, config: {} });
  t.teardown(async () => {
    await app.stop();
    await run('umount', ['--lazy', small]);
    await rm(small, { recursive: true });
  });
  const filler = path.join(small, 'filler');
  await writeFile(filler, Buffer.alloc(2 * 1024 * 1024)).catch(() => undefined);
  const owner = { username: 'owner', password: 'correct horse' };
  const detail = `${small}/users.json cannot be written (no space left on device, or no inode); nothing was changed`;
  t.match(await app.post('/auth/setup', owner), { status: 503, body: { detail } });
  await rm(filler);
  t.equal((await app.post('/auth/setup', owner)).status, 200);
});

t.test('a restart that could not be recorded leaves the service running', { skip }, async t => {
  const small = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
  await run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', small]);
  const app = await startHost({ plugins: PLUGINS, configDir: small, config: { kid: kid('Kid', ['calm']) } });
  t.teardown(async () => {
    await app.stop();
    await run('umount', ['--lazy', small]);
    await rm(small, { recursive: true });
  });
  t.equal((await start(app, 'Kid')).status, 200);
  const pid = await pidOf(app, 'Kid');
  const filler = path.join(small, 'filler');
  await writeFile(filler, Buffer.alloc(2 * 1024 * 1024)).catch(() => undefined);
  const refused = await restart(app, 'Kid');
  t.match(refused, { status: 503, body: { detail: /^Kid goes on running .*supervisor cannot be written \(no space/ } });
  t.match(await status(app, 'Kid'), { status: 'running' });
  t.equal(await pidOf(app, 'Kid'), pid);
  await rm(filler);
  t.equal((await restart(app, 'Kid')).status, 200);
  t.not(await pidOf(app, 'Kid'), pid);
  t.notOk((await readdir(path.join(small, 'supervisor'))).some(name => name.endsWith('.trial')));
});

for (const freeBytes of [4_096, 8_192, 20_000]) {
  t.test(`a save that only ${freeBytes} bytes are left for`, { skip }, async t => {
    const small = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
    await run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', small]);
    // The text is longer than what is left, so that a part of it would fit.
    const app = await startHost({ plugins: PLUGINS, configDir: small, config: { dumb: { note: 'x'.repeat(60_000) } } });
    t.teardown(async () => {
      await app.stop();
      await run('umount', ['--lazy', small]);
      await rm(small, { recursive: true });
    });
    const file = path.join(small, 'stackwarden.json');
    const before = await readFile(file, 'utf8');
    const filler = path.join(small, 'filler');
    await writeFile(filler, Buffer.alloc(2 * 1024 * 1024)).catch(() => undefined);
    await truncate(filler, (await stat(filler)).size - freeBytes);
    t.equal((await app.post('/config', { updates: { tz: 'UTC' }, persist: true })).status, 503);
    t.ok((await readFile(file, 'utf8')) === before, 'the file is as it was');
    await rm(filler);
    t.equal((await app.post('/config', { updates: { tz: 'UTC' }, persist: true })).status, 200);
    t.equal(JSON.parse(await readFile(file, 'utf8')).tz, 'UTC');
  });
}

t.test('a disk with room and without an inode is not told to have no room', { skip }, async t => {
  const { small } = await fullDisk(t, 'size=8m,nr_inodes=100');
  const elsewhere = testDir(t);
  const settings = path.join(elsewhere, 'settings.yaml');
  await writeFile(settings, 'a: 1\n');
  const app = await startHost({
    plugins: [...PLUGINS, 'config-files', 'format-yaml'],
    configDir: small,
    config: { kid: kid('Kid', ['calm'], { config_dir: elsewhere, config_file: settings }) },
  });
  t.teardown(() => app.stop());
  for (let at = 0, free = true; free; at += 1)
    free = await writeFile(path.join(small, `filler-${at}`), '').then(
      () => true,
      () => false,
    );
  const save = { service_name: 'Kid', updates: { a: 2 } };
  const requests: readonly [string, object, string][] = [
    [
      '/config',
      { updates: { tz: 'UTC' }, persist: true },
      `${small}/stackwarden.json cannot be saved (the disk is full, or`,
    ],
    ['/process/start-service', { process_name: 'Kid' }, `${small}/supervisor cannot be written (no space left`],
    ['/config/service-config', save, `${small}/backups/service-config cannot take its backup: no space left on device`],
  ];
  for (const [route, body, told] of requests) {
    const { status: code, body: answer } = await app.post(route, body);
    t.equal(code, 503, route);
    t.ok(answer.detail.includes(told), answer.detail);
    t.match(answer.detail, /or (?:has )?no inode/);
  }
  t.equal(await readFile(settings, 'utf8'), 'a: 1\n');
});
