// R13: the service log is deleted, rotated or made unwritable by others, or the child floods: it never blocks and
// nothing doubles.
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { GuardedDirectory } from '../../core/kit/guarded-directory.ts';
import { RotatingFile } from '../../core/kit/rotating-file.ts';
import { completeBytes, MAX_LINE_BYTES, toLines } from '../../plugins/process/capture/output-lines.ts';
import { PositionFile } from '../../plugins/process/capture/position.ts';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { kid, start, status, stop } from '../support/kids.ts';
import { ownLogText } from '../support/own-log.ts';
import { until } from '../support/until.ts';
import { usingUp } from '../support/used-up.ts';

const PLUGINS = ['config', 'process', 'logs'];

const run = promisify(execFile);

async function numbers(directory: string, base: string): Promise<number[]> {
  const files = (await readdir(directory)).filter(file => file.startsWith(base));
  const texts = await Promise.all(files.map(file => readFile(path.join(directory, file), 'utf8')));
  return texts.flatMap(text => [...text.matchAll(/number (\d+)$/gm)].map(match => Number(match[1])));
}

t.test('deleted and renamed while it is written', async t => {
  const logDir = testDir(t, {});
  await chmod(logDir, 0o755);
  const file = path.join(logDir, 'ticker.log');
  const ticker = ['sh', '-c', 'i=0; while :; do echo number $i; i=$((i+1)); sleep 0.02; done'];
  const app = await startHost({
    plugins: PLUGINS,
    config: { dumb: { log_dir: logDir }, ticker: { ...kid('Ticker', []), command: ticker, log_file: file } },
  });
  t.teardown(() => app.stop());
  await start(app, 'Ticker');
  await until(async () => (await numbers(logDir, 'ticker')).length > 5);
  await rename(file, path.join(logDir, 'ticker-moved.log'));
  await until(async () => (await stat(file)).size > 0, { what: 'a new log after the rename' });
  const all = await numbers(logDir, 'ticker');
  t.equal(new Set(all).size, all.length, 'no line twice');
  t.equal(Math.max(...all) + 1, all.length, 'no line lost');
  await rm(file);
  await until(async () => (await stat(file)).size > 0, { what: 'a new log after the deletion' });
  t.equal((await status(app, 'Ticker')).status, 'running');
});

t.test('a flood is captured whole, and what was consumed is given back to the disk', async t => {
  const logDir = testDir(t, {});
  const lines = 400_000;
  const app = await startHost({
    plugins: PLUGINS,
    config: {
      dumb: { log_dir: logDir, log_size: '4M', log_count: 30 },
      flood: kid('Flood', ['count', String(lines)], { log_file: path.join(logDir, 'flood.log') }),
    },
  });
  t.teardown(() => app.stop());
  await start(app, 'Flood');
  const all = await until(
    async () => {
      const found = await numbers(logDir, 'flood');
      return new Set(found).size >= lines ? found : undefined;
    },
    { timeoutMs: 90_000 },
  );
  t.equal(all.length, lines);
  t.equal(new Set(all).size, lines);
  t.ok((await app.get('/process/processes')).status === 200);
});

t.test(
  'a log on a full disk: the child runs on, and its lines wait for room, also when it has ended',
  { skip: process.getuid?.() === 0 ? false : 'mounting needs root' },
  async t => {
    const logDir = await mkdtemp(path.join(tmpdir(), 'stackwarden-full-'));
    const small = path.join(logDir, 'small');
    await mkdir(small);
    await run('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', small]);
    try {
      const app = await startHost({
        plugins: PLUGINS,
        config: {
          dumb: { log_dir: logDir },
          flood: kid('Flood', ['count', '20000'], {
            log_file: path.join(small, 'flood.log'),
            suppress_logging: false,
          }),
          brief: kid('Brief', ['count', '20000'], { log_file: path.join(small, 'brief.log') }),
        },
      });
      const told = (pattern: RegExp) => until(async () => pattern.test(await ownLogText(logDir)));
      const counted = async () => (await ownLogText(logDir)).match(/Flood.* number \d+$/gm)?.length ?? 0;
      await start(app, 'Flood');
      await told(/flood\.log cannot be written; its lines wait until there is room/);
      t.equal((await status(app, 'Flood')).status, 'running');
      await start(app, 'Brief');
      await told(/brief\.log cannot be written; its lines wait until there is room/);
      t.equal((await stop(app, 'Brief')).status, 200);
      await run('mount', ['-o', 'remount,size=16m', small]);
      const all = await until(async () => {
        const found = await numbers(small, 'flood');
        return new Set(found).size >= 20_000 ? found : undefined;
      });
      t.equal(all.length, 20_000);
      await told(/flood\.log is written again$/m);
      t.equal(await counted(), 20_000, 'the own log has each once');
      await told(/brief\.log is written again$/m);
      const ofBrief = await until(async () => {
        const spools = await readdir(path.join(app.configDir, 'supervisor'));
        return spools.some(name => name.startsWith('brief-')) ? null : numbers(small, 'brief');
      });
      t.ok(ofBrief.length > 0);
      t.same(ofBrief, [...ofBrief.keys()], 'each line of the stopped service once, in order');
      await app.stop();
    } finally {
      await run('umount', ['-l', small]);
      await rm(logDir, { recursive: true });
    }
  },
);

t.test('while no descriptor is left for a log that is not open, lines wait in the spool', async t => {
  const dir = testDir(t, {});
  const found = await usingUp<Record<string, unknown>>(`
    const { appendFileSync, openSync, readFileSync } = await import('node:fs')
    const { Capture } = await load('plugins/process/capture/capture.ts')
    const told = []
    const tell = text => told.push(text)
    const directory = ${JSON.stringify(dir)}
    const [logFile, spoolFile] = [directory + '/kid.log', directory + '/kid.spool']
    const capture = new Capture({
      directory,
      rotation: () => ({ maxBytes: 1e6, keep: 2 }),
      ownLevel: () => 'INFO',
      deliver: async () => undefined,
      log: { warn: tell, error: tell },
      onFault: tell,
    })
    const target = { processName: 'Kid', logFile, accessLogFile: null, logLevel: 'INFO', suppressed: true, owner: null }
    const session = await capture.open(target, spoolFile)
    const spool = openSync(spoolFile, 'a')
    useUp(0)
    appendFileSync(spool, 'number 1\\n')
    await session.settled()
    const { isHeld } = session
    release()
    appendFileSync(spool, 'number 2\\n')
    while (session.isHeld || session.hasMore()) await session.settled()
    await capture.close()
    return { isHeld, told, text: readFileSync(logFile, 'utf8') }`);
  t.equal(found.isHeld, true);
  t.match(found.told, [/kid\.log cannot be written; its lines wait until a descriptor is free$/, /is written again$/]);
  t.match(found.text, /^[^\n]*number 1\n[^\n]*number 2\n$/);
});

t.test('any chunking of the same bytes gives the same lines', async _t => {
  const text = fc
    .array(fc.string({ unit: 'grapheme', maxLength: 40 }), { maxLength: 30 })
    .map(parts => Buffer.from(parts.join('\n')));
  fc.assert(
    fc.property(text, fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 40 }), (bytes, sizes) => {
      const whole = [...toLines(bytes)];
      const pieces: typeof whole = [];
      let pending = Buffer.alloc(0);
      let at = 0;
      for (let turn = 0; at < bytes.length; turn += 1) {
        const size = sizes[turn % sizes.length] ?? 1;
        pending = Buffer.concat([pending, bytes.subarray(at, at + size)]);
        at += size;
        const complete = completeBytes(pending, at >= bytes.length);
        pieces.push(...toLines(pending.subarray(0, complete)));
        pending = pending.subarray(complete);
      }
      const shown = (lines: typeof pieces) => lines.map(({ level, text }) => [level, text]);
      return JSON.stringify(shown(pieces)) === JSON.stringify(shown(whole));
    }),
  );
});

t.test('levels, terminal codes, secrets and endless lines', async t => {
  t.match(
    [
      ...toLines(
        Buffer.from('2025-01-01 [warn] low disk\n\x1b[31mERROR\x1b[0m broken\nplain\n\nprogress 1%\rprogress 100%\n'),
      ),
    ],
    [
      { level: 'WARNING', text: '2025-01-01 [warn] low disk' },
      { level: 'ERROR', text: 'ERROR broken' },
      { level: 'INFO', text: 'plain' },
      { level: 'INFO', text: 'progress 100%' },
    ],
  );
  t.same(
    [...toLines(Buffer.from('password=hunter2 ok\n'))].map(line => line.text),
    ['password=[REDACTED] ok'],
  );
  t.equal(toLines(Buffer.from('x'.repeat(MAX_LINE_BYTES * 2 + 10))).count, 3);
  t.equal(completeBytes(Buffer.from('x'.repeat(MAX_LINE_BYTES + 10)), false), MAX_LINE_BYTES);
});

t.test('a program that opens its output anew by name', async t => {
  const dir = testDir(t, { places: {} });
  for (const place of ['', 'places']) await chmod(path.join(dir, place), 0o777);
  const whenAllowed = (name: string) => `while [ ! -e places/${name} ]; do sleep 0.1; done`;
  const script = `echo the first of all; ${whenAllowed('a')}; echo two > /dev/stderr; ${whenAllowed('b')}; echo three; ${whenAllowed('c')}; echo 4 > /dev/stderr; sleep 600`;
  const file = path.join(dir, 'log/talker.log');
  const app = await startHost({
    plugins: PLUGINS,
    config: {
      dumb: { log_dir: path.join(dir, 'log') },
      talker: { ...kid('Talker', [], { config_dir: dir, log_file: file }), command: ['sh', '-c', script] },
    },
  });
  t.teardown(() => app.stop());
  await start(app, 'Talker');
  const said = (text: string) =>
    until(async () => (await readFile(file, 'utf8')).includes(text), { what: `the line ${text}` });
  await said('the first of all');
  await writeFile(path.join(dir, 'places/a'), '');
  await said('two');
  await writeFile(path.join(dir, 'places/b'), '');
  await said('three');
  await writeFile(path.join(dir, 'places/c'), '');
  await said('subprocess: 4');
  const texts = (await readFile(file, 'utf8')).split('\n').map(line => line.split(' subprocess: ').at(-1));
  t.same(texts, ['the first of all', 'two', 'three', '4', '']);
  const told = (await app.get('/logs?process_name=DUMB')).body.chunk.split('Talker emptied its own output');
  t.equal(told.length - 1, 1, 'told once');
});

t.test('the own log takes every line of processes that have no other, however many come at once', async t => {
  const logDir = testDir(t, {});
  const talkers = Array.from({ length: 8 }, (_, index) => `Talker ${index}`);
  const lines = 20_000;
  const app = await startHost({
    plugins: PLUGINS,
    config: {
      dumb: { log_dir: logDir, log_size: '100M' },
      ...Object.fromEntries(
        talkers.map((name, index) => [
          `talker_${index}`,
          kid(name, ['count', String(lines)], { suppress_logging: false, enabled: true, log_file: '' }),
        ]),
      ),
    },
  });
  t.teardown(() => app.stop());
  await until(async () => (await numbers(logDir, 'DUMB')).length >= talkers.length * lines, {
    timeoutMs: 90_000,
    intervalMs: 500,
    what: 'every line',
  });
  t.equal((await numbers(logDir, 'DUMB')).length, talkers.length * lines);
});

t.test('a place in a file whose number uses all 64 bits', async t => {
  const file = path.join(testDir(t, {}), 'x.position');
  const { positions } = await GuardedDirectory.at(file, PositionFile.open);
  const [logDevice, logInode] = [2 ** 40, 2 ** 63 + 2 ** 40];
  const place = { consumedBytes: 123_456, logDevice, logInode, logBytes: 777, pendingBytes: 9, logFile: '/log/ä.log' };
  await positions.record(place);
  await positions.close();
  const { positions: again, last } = await GuardedDirectory.at(file, PositionFile.open);
  await again.close();
  t.same(last, place);
});

t.test('a log that is mounted by itself cannot be renamed, and grows', { skip: process.getuid?.() !== 0 }, async t => {
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
  const [outside, file] = [path.join(dir, 'outside.log'), path.join(dir, 'app.log')];
  await writeFile(outside, '');
  await writeFile(file, '');
  await run('mount', ['--bind', outside, file]);
  t.teardown(async () => {
    await run('umount', ['--lazy', file]);
    await rm(dir, { recursive: true });
  });
  const warnings: string[] = [];
  const log = new RotatingFile({
    file,
    rotation: () => ({ maxBytes: 100, keep: 2 }),
    warn: message => warnings.push(message),
  });
  for (let number = 0; number < 100; number += 1) {
    const line = Buffer.from(`number ${number}\n`);
    t.ok(await log.prepare(line.length));
    await log.append(line);
  }
  await log.close();
  t.equal((await readFile(outside, 'utf8')).split('\n').length, 101);
  t.match(warnings, [/cannot be rotated and grows/]);
  t.equal(warnings.length, 1);
});
