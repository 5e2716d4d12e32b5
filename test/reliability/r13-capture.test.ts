// R13: the service log is deleted, rotated or made unwritable by others, or the child floods: it never blocks and nothing doubles.
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { completeBytes, MAX_LINE_BYTES, toLines } from '../../plugins/process/output-lines.ts';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { kid, start, status } from '../support/kids.ts';
import { until } from '../support/until.ts';

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
      return found.length >= lines ? found : undefined;
    },
    { timeoutMs: 90_000 },
  );
  t.equal(all.length, lines);
  t.equal(new Set(all).size, lines);
  t.ok((await app.get('/process/processes')).status === 200);
});

t.test(
  'a log on a full disk: lines are dropped, the child runs on',
  { skip: process.getuid?.() === 0 ? false : 'mounting needs root' },
  async t => {
    const logDir = await mkdtemp(path.join(tmpdir(), 'stackwarden-full-'));
    const small = path.join(logDir, 'small');
    await mkdir(small);
    await run('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', small]);
    try {
      const app = await startHost({
        config: {
          dumb: { log_dir: logDir },
          flood: kid('Flood', ['count', '20000'], { log_file: path.join(small, 'flood.log') }),
        },
      });
      await start(app, 'Flood');
      await until(async () => {
        const own = (await readdir(logDir)).find(name => name.startsWith('DUMB-'));
        return (
          own !== undefined &&
          /flood\.log cannot be written; \d+ bytes of log were dropped/.test(
            await readFile(path.join(logDir, own), 'utf8'),
          )
        );
      });
      t.equal((await status(app, 'Flood')).status, 'running');
      await app.stop();
    } finally {
      await run('umount', ['-l', small]);
      await rm(logDir, { recursive: true });
    }
  },
);

t.test('any chunking of the same bytes gives the same lines', async _t => {
  const text = fc
    .array(fc.string({ unit: 'grapheme', maxLength: 40 }), { maxLength: 30 })
    .map(parts => Buffer.from(parts.join('\n')));
  fc.assert(
    fc.property(text, fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 40 }), (bytes, sizes) => {
      const whole = toLines(bytes);
      const pieces: ReturnType<typeof toLines> = [];
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
      return JSON.stringify(pieces) === JSON.stringify(whole);
    }),
  );
});

t.test('levels, terminal codes, secrets and endless lines', async t => {
  t.match(
    toLines(
      Buffer.from('2025-01-01 [warn] low disk\n\x1b[31mERROR\x1b[0m broken\nplain\n\nprogress 1%\rprogress 100%\n'),
    ),
    [
      { level: 'WARNING', text: '2025-01-01 [warn] low disk' },
      { level: 'ERROR', text: 'ERROR broken' },
      { level: 'INFO', text: 'plain' },
      { level: 'INFO', text: 'progress 100%' },
    ],
  );
  t.same(
    toLines(Buffer.from('password=hunter2 ok\n')).map(line => line.text),
    ['password=[REDACTED] ok'],
  );
  t.equal(toLines(Buffer.from('x'.repeat(MAX_LINE_BYTES * 2 + 10))).length, 3);
  t.equal(completeBytes(Buffer.from('x'.repeat(MAX_LINE_BYTES + 10)), false), MAX_LINE_BYTES);
});
