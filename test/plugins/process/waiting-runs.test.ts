// The last lines of a run whose log is on a full disk wait for room, also in the next host, and no later run writes
// before them. Only where they become too many are the oldest dropped, which the log says.
import { execFile } from 'node:child_process';
import { appendFile, copyFile, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import type { CapturedLines, LogLevel } from '../../../core/contract/plugin.ts';
import { Capture } from '../../../plugins/process/capture/capture.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);
const skip = process.getuid?.() === 0 ? false : 'mounting needs root';
const MEGABYTE = 2 ** 20;

/** Spools beside a log on a small disk of its own. */
async function places(t: Test) {
  const directory = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
  const small = path.join(directory, 'small');
  const spools = path.join(directory, 'spools');
  await mkdir(small);
  await run('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'tmpfs', small]);
  t.teardown(async () => {
    await run('umount', ['--lazy', small]);
    await rm(directory, { recursive: true });
  });
  const filler = path.join(small, 'filler');
  const logFile = path.join(small, 'job.log');
  const told: string[] = [];
  const delivered: string[] = [];
  const logLevel: LogLevel = 'INFO';
  const target = { processName: 'Job', logFile, accessLogFile: null, logLevel, suppressed: false, owner: null };
  const capturing = (slowMs = 0) => {
    const tell = (message: string): void => void told.push(message);
    const capture = new Capture({
      directory: spools,
      rotation: () => ({ maxBytes: 1e9, keep: 1 }),
      ownLevel: () => 'INFO',
      deliver: async ({ block }: CapturedLines) => {
        delivered.push(Buffer.from(block).toString());
        if (slowMs > 0) await delay(slowMs);
      },
      log: { warn: tell, error: tell },
      onFault: () => undefined,
    });
    t.teardown(() => capture.close());
    /** One run from its beginning to its end. */
    const runOf = async (name: string, text: string): Promise<void> => {
      const session = await capture.open(target, path.join(spools, `${name}.spool`));
      await appendFile(session.spoolFile, text);
      await session.finish();
    };
    return { capture, runOf };
  };
  return {
    ...{ spools, target, told, capturing },
    fill: () => writeFile(filler, Buffer.alloc(40 * MEGABYTE), { flag: 'a' }).catch(() => undefined),
    empty: () => rm(filler),
    /** Sorted, because a last line that was cut off comes with the lines before it, once these have room. */
    ownLines: () => numbersIn(delivered.join('')).sort((one, other) => Number(one.slice(5)) - Number(other.slice(5))),
    lines: async () => numbersIn(await readFile(logFile, 'utf8').catch(() => '')),
    left: async () => (await readdir(spools)).filter(name => name.endsWith('.spool')),
  };
}

const numbersIn = (text: string): string[] => text.match(/line \d+/g) ?? [];
const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_none, n) => `line ${from + n}`);
const textOf = (from: number, to: number) => numbered(from, to).join('\n');

t.test('the lines of several runs are written in order as soon as there is room', { skip }, async t => {
  const { spools, target, capturing, fill, empty, lines, ownLines, left } = await places(t);
  const { capture, runOf } = capturing();
  await fill();
  await runOf('b', textOf(0, 100));
  await runOf('a', textOf(100, 200));
  const going = await capture.open(target, path.join(spools, 'c.spool'));
  await appendFile(going.spoolFile, `${textOf(200, 300)}\n`);
  await going.settled();
  t.same(await lines(), []);
  t.same((await left()).sort(), ['a.spool', 'b.spool', 'c.spool']);
  await capture.removeOthers();

  await empty();
  await until(async () => (await lines()).length >= 300, { what: 'every line' });
  t.same(await lines(), numbered(0, 300));
  t.same(ownLines(), numbered(0, 300), 'the own log has each once');
  await until(async () => (await left()).length === 1, { what: 'what was read to be removed' });
  await going.finish();
});

t.test('the next host goes on with them before it writes anything else', { skip }, async t => {
  const { spools, target, told, capturing, fill, empty, lines, ownLines, left } = await places(t);
  const first = capturing();
  await fill();
  await first.runOf('b', textOf(0, 100));
  await first.runOf('a', textOf(100, 200));
  const going = await first.capture.open(target, path.join(spools, 'c.spool'));
  await appendFile(going.spoolFile, `${textOf(200, 300)}\n`);
  await going.settled();
  await first.capture.close();
  await writeFile(path.join(spools, 'nobody.spool'), 'line 1000\n');
  // What a host leaves that is killed while it removes a run whose lines were written.
  await copyFile(path.join(spools, 'a.spool.position'), path.join(spools, 'read.spool.position'));

  const second = capturing();
  const again = await second.capture.open(target, path.join(spools, 'c.spool'));
  await second.capture.removeOthers();
  t.same((await left()).sort(), ['a.spool', 'b.spool', 'c.spool'], 'those of no process are removed');
  await again.settled();
  await again.finish();
  await second.capture.close();
  await empty();
  const third = capturing();
  await third.runOf('d', textOf(300, 400));
  t.same(await lines(), numbered(0, 400));
  t.same(ownLines(), numbered(0, 400), 'the own log has each once');
  await until(async () => (await left()).length === 0, { what: 'what was read to be removed' });
  t.same(
    told.filter(text => /dropped|emptied/.test(text)),
    [],
  );
});

t.test('a run whose waiting lines were lost with the power of the machine holds back nobody', { skip }, async t => {
  const { spools, capturing, fill, empty, lines, left } = await places(t);
  const first = capturing();
  await fill();
  await first.runOf('lost', textOf(0, 100));
  await first.capture.close();
  await truncate(path.join(spools, 'lost.spool'));
  await empty();
  const second = capturing();
  await second.runOf('next', textOf(100, 200));
  t.same(await lines(), numbered(100, 200));
  await until(async () => (await left()).length === 0, { what: 'what was read to be removed' });
});

t.test('a hand-over amid the lines of an ended run keeps the order', { skip }, async t => {
  const { spools, target, capturing, fill, empty, lines } = await places(t);
  const first = capturing(800);
  await fill();
  const padding = 'x'.repeat(70);
  await first.runOf(
    'ended',
    numbered(0, 60_000)
      .map(line => `${line} ${padding}`)
      .join('\n'),
  );
  const going = await first.capture.open(target, path.join(spools, 'going.spool'));
  await appendFile(going.spoolFile, `${textOf(60_000, 60_100)}\n`);
  await going.settled();
  await empty();
  await until(async () => (await lines()).length > 0, { what: 'the first lines' });
  await Promise.all([going.settled(), first.capture.close()]);
  t.ok((await lines()).length < 60_000);

  const next = await capturing().capture.open(target, path.join(spools, 'going.spool'));
  await next.finish();
  await until(async () => (await lines()).length >= 60_100, { what: 'every line' });
  t.same(await lines(), numbered(0, 60_100));
});

t.test('lines of a build wait behind those of earlier runs, also for the next host', { skip }, async t => {
  const { spools, target, told, capturing, fill, empty, lines, ownLines, left } = await places(t);
  const first = capturing();
  const recordIn = async ({ capture }: typeof first, from: number, to: number): Promise<void> => {
    for (let line = from; line < to; line += 5)
      await capture.write(target, numbered(line, line + 5), path.join(spools, `build-${line}.spool`));
  };
  await fill();
  await first.runOf('ended', textOf(0, 40));
  await recordIn(first, 40, 100);
  await first.runOf('later', textOf(100, 120));
  t.same((await left()).sort(), ['build-40.spool', 'ended.spool', 'later.spool']);
  await first.capture.close();

  const second = capturing();
  await recordIn(second, 120, 150);
  await empty();
  await until(async () => (await lines()).length >= 150, { what: 'every line' });
  await recordIn(second, 150, 170);
  t.same(await lines(), numbered(0, 170));
  t.same(ownLines(), numbered(0, 170), 'the own log has each once');
  await until(async () => (await left()).length === 0, { what: 'what was read to be removed' });
  t.notMatch(told.join('\n'), /dropped|emptied/);

  // More than the last page of the log takes.
  await fill();
  await recordIn(second, 170, 300);
  await empty();
  await until(async () => (await lines()).length >= 300, { what: 'every line' });
  await until(async () => (await left()).length === 0, { what: 'what was read to be removed' });
  const before = told.length;
  await recordIn(second, 300, 305);
  t.same(await lines(), numbered(0, 305));
  t.same(told.slice(before), [], 'that the log is written again is told once');
});

t.test('lines of a build that no disk takes are dropped, which is told once with their size', { skip }, async t => {
  const { target, spools, told, capturing, fill, empty, lines } = await places(t);
  const { capture } = capturing();
  const record = (from: number) =>
    capture.write(target, numbered(from, from + 5), path.join(spools, 'none', 'at', `all-${from}.spool`));
  await fill();
  await writeFile(spools, '');
  await record(0);
  await record(5);
  const ofLoss = () => told.filter(text => /dropped/.test(text));
  t.equal(ofLoss().length, 1);
  t.match(ofLoss()[0], /job\.log cannot be written; \d+ bytes of log were dropped/);
  await empty();
  await record(10);
  t.same(await lines(), numbered(10, 15));
  t.match(told.at(-1), /job\.log is written again; in all \d+ bytes of log were dropped/);
});

t.test('nothing is left of spools for lines of a build where their disk is full, too', { skip }, async t => {
  const { target, capturing, fill } = await places(t);
  const { capture } = capturing();
  const small = path.dirname(target.logFile);
  await fill();
  for (const from of [0, 5])
    await capture.write(target, numbered(from, from + 5), path.join(small, `full-${from}.spool`));
  t.same(
    (await readdir(small)).filter(name => name.includes('.spool')),
    [],
  );
});

const accessText = (from: number, to: number) =>
  numbered(from, to)
    .map(line => `203.0.113.9 - - [02/Jan/2026:03:04:05 +0000] "GET /${line} HTTP/1.1" 200 12\n`)
    .join('');

for (const fullOne of ['accessLogFile', 'logFile'] as const) {
  t.test(`each line of a proxy is written once when the disk of its ${fullOne} was full`, { skip }, async t => {
    const { spools, target, told, capturing, fill, empty } = await places(t);
    const files = { logFile: path.join(spools, 'own.log'), accessLogFile: path.join(spools, 'access.log') };
    const proxy = { ...target, ...files, [fullOne]: target.logFile };
    const text = (from: number, to: number) => `${textOf(from, to)}\n${accessText(from, to)}`;
    const read = async (file: string) => numbersIn(await readFile(file, 'utf8').catch(() => ''));
    await fill();
    const first = capturing();
    const going = await first.capture.open(proxy, path.join(spools, 'proxy.spool'));
    await appendFile(going.spoolFile, text(0, 100));
    await going.settled();
    await appendFile(going.spoolFile, text(100, 200));
    await going.settled();
    await first.capture.close();
    t.same(await read(proxy[fullOne]), []);

    const again = await capturing().capture.open(proxy, path.join(spools, 'proxy.spool'));
    await again.settled();
    await empty();
    await again.finish();
    const isWhole = async () =>
      (await read(proxy.logFile)).length >= 200 && (await read(proxy.accessLogFile)).length >= 200;
    await until(isWhole, { what: 'every line' });
    t.same(await read(proxy.logFile), numbered(0, 200));
    t.same(await read(proxy.accessLogFile), numbered(0, 200));
    t.notMatch(told.join('\n'), /dropped|emptied/);
  });
}

t.test('the oldest runs are dropped when they are too many', { skip }, async t => {
  const { capturing, told, fill, empty, lines, left } = await places(t);
  const { runOf } = capturing();
  await fill();
  for (let index = 0; index < 10; index += 1) await runOf(`run-${index}`, textOf(index * 10, index * 10 + 10));
  await until(async () => (await left()).length <= 8, { what: 'the oldest to be dropped' });
  t.match(told.join('\n'), /job\.log cannot be written; \d+ bytes of log were dropped/);
  await empty();
  await until(async () => (await lines()).length >= 80, { what: 'the others' });
  t.same(await lines(), numbered(20, 100));
});

t.test('the oldest lines are dropped when they are too large, for a run that goes on too', { skip }, async t => {
  const { spools, target, capturing, told, fill, empty, lines, left } = await places(t);
  const { capture, runOf } = capturing();
  await fill();
  const filling = `${'x'.repeat(1_000)}\n`.repeat(9_000);
  await runOf('first', `line 1\n${filling}line 2`);
  t.equal((await left()).length, 1);
  t.notMatch(told.join('\n'), 'dropped');
  const going = await capture.open(target, path.join(spools, 'going.spool'));
  await appendFile(going.spoolFile, `line 3\n${filling}line 4\n`);
  const isDropped = () => /job\.log cannot be written; \d+ bytes of log were dropped/.test(told.join('\n'));
  await until(isDropped, { what: 'the log to tell it' });
  await empty();
  await until(async () => (await lines()).includes('line 4'), { what: 'the last line' });
  t.same(await lines(), ['line 2', 'line 3', 'line 4']);
  await going.finish();
});
