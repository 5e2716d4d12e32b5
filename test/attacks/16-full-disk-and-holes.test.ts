// Line 16: a full disk below the spools is told, and what is written after there is room is kept; a hole in a spool
// becomes no log.
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { kid, start, stop } from '../support/kids.ts';
import { ownLog } from '../support/own-log.ts';
import { DISK_ONLY } from '../support/power-loss.ts';
import { ROOT_ONLY } from '../support/race.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const PLUGINS = ['config', 'process', 'logs'];
// Written by a program of its own each time, so that a line that finds no room does not end the loop.
const ticker = ['sh', '-c', 'i=0; while :; do i=$((i+1)); /bin/echo "tick $i" || :; sleep 0.05; done'];

t.test('a full disk of the spools is told, and output is kept again when there is room', ROOT_ONLY, async t => {
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
  const supervisor = path.join(dir, 'supervisor');
  const file = path.join(dir, 'log', 'ticker.log');
  await mkdir(supervisor, { mode: 0o700 });
  await run('mount', ['-t', 'tmpfs', '-o', 'size=256k,mode=0700', 'small', supervisor]);
  t.teardown(async () => {
    await run('umount', ['--lazy', supervisor]);
    await rm(dir, { recursive: true });
  });
  const app = await startHost({
    plugins: PLUGINS,
    configDir: dir,
    config: { ticker: { ...kid('Ticker', []), command: ticker, log_file: file } },
  });
  t.teardown(() => app.host.stop());
  t.equal((await start(app, 'Ticker')).status, 200);
  await until(async () => (await readFile(file, 'utf8')).includes('tick'));

  await run('sh', ['-c', `cat /dev/zero > '${supervisor}/filler'`]).catch(() => undefined);
  const detail = async () => (await app.get('/process?process_name=Ticker')).body;
  const warning = await until(async () => (await detail()).warning, { what: 'the entry to say it' });
  t.match(warning, `the disk of ${supervisor} is full: what the service writes is lost`);
  const own = async () => (await app.get('/logs?process_name=DUMB')).body.chunk as string;
  await until(async () => (await own()).includes(`the disk of ${supervisor} is full`), { what: 'the log to say it' });

  await rm(path.join(supervisor, 'filler'));
  await until(async () => (await detail()).warning === undefined, { what: 'the entry to say no more' });
  const lines = async () => (await readFile(file, 'utf8')).split('\n').length;
  const before = await lines();
  await until(async () => (await lines()) > before + 10, { what: 'the output to go on' });
});

t.test('a disk of the spools that can only be read any more is told', DISK_ONLY, async t => {
  const dir = testDir(t, { supervisor: {} });
  const supervisor = path.join(dir, 'supervisor');
  const disk = path.join(dir, 'disk');
  await run('truncate', ['--size=16M', disk]);
  await run('mkfs.ext4', ['-q', disk]);
  await run('mount', ['-o', 'loop,errors=remount-ro', disk, supervisor]);
  t.teardown(() => run('umount', ['--lazy', supervisor]));
  await chmod(supervisor, 0o700);
  const ticking = { ...kid('Ticker', []), command: ticker };
  const app = await startHost({ plugins: PLUGINS, configDir: dir, config: { ticker: ticking } });
  t.teardown(() => app.host.stop());
  t.equal((await start(app, 'Ticker')).status, 200);
  // As after an error of the disk, with files that are open for writing.
  await run('mount', ['-o', 'remount,abort', supervisor]);
  const warning = async () => (await app.get('/process?process_name=Ticker')).body.warning;
  t.match(
    await until(warning, { what: 'the entry to say it' }),
    `the disk of ${supervisor} is read-only: what the service`,
  );
  t.match((await ownLog(app)).join('\n'), `the disk of ${supervisor} is read-only`);
  t.match(await stop(app, 'Ticker'), { status: 200 });
});

t.test('lines are kept, once each, while it cannot be recorded how far they were read', ROOT_ONLY, async t => {
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
  const supervisor = path.join(dir, 'supervisor');
  const file = path.join(dir, 'log', 'counter.log');
  await chmod(dir, 0o755);
  await mkdir(supervisor, { mode: 0o700 });
  await run('mount', ['-t', 'tmpfs', '-o', 'size=256k,mode=0700', 'small', supervisor]);
  t.teardown(async () => {
    await run('umount', ['--lazy', supervisor]);
    await rm(dir, { recursive: true });
  });
  const script = `echo first; until [ -e ${dir}/go ]; do sleep 0.05; done
    i=0; while [ $i -lt 20 ]; do i=$((i+1)); echo "tick $i"; sleep 0.05; done
    until [ -e ${dir}/more ]; do sleep 0.05; done; echo last; exec sleep 600`;
  const block = { ...kid('Counter', []), suppress_logging: false, command: ['sh', '-c', script], log_file: file };
  const app = await startHost({ plugins: PLUGINS, configDir: dir, config: { counter: block } });
  t.teardown(() => app.host.stop());
  t.equal((await start(app, 'Counter')).status, 200);
  await until(async () => (await readFile(file, 'utf8')).includes('first'));

  // As where what is changed is written elsewhere: a record in place needs room too.
  const fill = () => run('sh', ['-c', `cat /dev/zero >> '${supervisor}/filler'`]).catch(() => undefined);
  await fill();
  const [position = ''] = (await readdir(supervisor)).filter(name => name.endsWith('.position'));
  await run('fallocate', ['--punch-hole', '--offset', '0', '--length', '4096', path.join(supervisor, position)]);
  await fill();
  await writeFile(path.join(dir, 'go'), '');
  const ticks = (text: string) => [...text.matchAll(/tick (\d+)$/gm)].map(([, number]) => Number(number));
  await until(async () => ticks(await readFile(file, 'utf8')).includes(20), { what: 'the last of them' });
  await rm(path.join(supervisor, 'filler'));
  await writeFile(path.join(dir, 'more'), '');
  await until(async () => (await readFile(file, 'utf8')).includes('last'));
  const every = Array.from({ length: 20 }, (_none, index) => index + 1);
  t.same(ticks(await readFile(file, 'utf8')), every);
  const ofCounter = async () => (await ownLog(app)).filter(line => line.includes('Counter'));
  const about = async () => (await ofCounter()).filter(line => / (?:cannot be|is recorded)/.test(line));
  await until(async () => (await about()).length > 1, { what: 'the line that tells of its end' });
  t.same(ticks((await ofCounter()).join('\n')), every);
  t.match(await about(), [/the output of Counter was read cannot be recorded; after a crash/, /is recorded again$/]);
});

t.test('a host starts although there is no room for its state', ROOT_ONLY, async t => {
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
  const supervisor = path.join(dir, 'supervisor');
  await mkdir(supervisor, { mode: 0o700 });
  await run('mount', ['-t', 'tmpfs', '-o', 'size=64k,nr_inodes=4,mode=0700', 'small', supervisor]);
  t.teardown(async () => {
    await run('umount', ['--lazy', supervisor]);
    await rm(dir, { recursive: true });
  });
  await run('sh', ['-c', `cat /dev/zero > '${supervisor}/filler'; : > '${supervisor}/a'; : > '${supervisor}/b'`]).catch(
    () => undefined,
  );
  const app = await startHost({ plugins: PLUGINS, configDir: dir, config: { calm: kid('Calm', ['calm']) } });
  t.teardown(() => app.host.stop());
  t.equal((await app.get('/process/processes')).status, 200);
  const { status, body } = await start(app, 'Calm');
  t.equal(status, 503);
  t.match(body.detail, `${supervisor} cannot be written (no space left on device, or no inode)`);
});

t.test('a spool of one terabyte becomes a sentence', async t => {
  const dir = testDir(t, {});
  const file = path.join(dir, 'log', 'hole.log');
  const grow = `const fs = require('node:fs'); fs.writeSync(1, 'before\\n'); fs.ftruncateSync(1, 1e12);
    fs.writeSync(1, 'after\\n'); setInterval(() => undefined, 1e6)`;
  const app = await startHost({
    plugins: PLUGINS,
    config: {
      dumb: { log_dir: path.join(dir, 'log') },
      hole: { ...kid('Hole', []), command: [process.execPath, '-e', grow], log_file: file },
    },
  });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'Hole')).status, 200);
  const text = await until(async () => {
    const log = await readFile(file, 'utf8');
    return log.includes('after') ? log : null;
  });
  t.match(text, /bytes of output without content were skipped/);
  t.notMatch(text, '\0');
  t.ok(text.length < 10_000, `${text.length} bytes`);
});
