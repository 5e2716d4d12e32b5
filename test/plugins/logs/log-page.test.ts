// A reader that follows its cursor gets each line once, whatever the writer does and however pages are cut.
import { execFileSync } from 'node:child_process';
import { appendFile, rename, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import type { LogLine } from '../../../core/contract/log.ts';
import { restingVersion } from '../../../core/kit/file-version.ts';
import { GuardedDirectory } from '../../../core/kit/guarded-directory.ts';
import { formatRecordAsJson } from '../../../core/kit/log-line.ts';
import { type LogPage, LogPages, type PageRequest, redactLines } from '../../../plugins/logs/log-page.ts';
import { testDir } from '../../support/directory.ts';
import { until } from '../../support/until.ts';

const start: PageRequest = { cursor: undefined, tailBytes: 1_024, fileId: undefined, ownLog: false };

const pages = new LogPages();

function read(file: string, request: Partial<PageRequest> = {}): Promise<LogPage> {
  const open = async () => {
    const directory = await GuardedDirectory.open(path.dirname(file));
    return directory.openFile(path.basename(file), 'read').finally(() => directory.close());
  };
  return pages.read(open, { ...start, ...request });
}

function after({ cursor, fileId }: LogPage, tailBytes = 1_024): Partial<PageRequest> {
  return { cursor, fileId: fileId ?? undefined, tailBytes };
}

t.test('pieces join to the text that was written', async t => {
  const file = path.join(testDir(t), 'a.log');
  const piece = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.constant('\n'), fc.constant('ä\n€\n'));
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 25 }), async pieces => {
      const bytes = Buffer.from(pieces.join('').replaceAll(/[=:@]/g, ''));
      await writeFile(file, '');
      let page = await read(file);
      let seen = page.chunk;
      const strange: LogPage[] = [];
      // The text is cut at bytes, because a reader may find half of a character on the disk.
      for (let at = 0; at < bytes.length; at += 7) {
        await appendFile(file, bytes.subarray(at, at + 7));
        page = await read(file, after(page));
        if (page.reset || !(page.chunk === '' || page.chunk.endsWith('\n'))) strange.push(page);
        seen += page.chunk;
      }
      const complete = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1).toString();
      t.same(strange, [], 'each page goes on with whole lines');
      t.equal(seen, complete);
      t.equal(page.cursor, Buffer.byteLength(complete));
    }),
    { numRuns: 40 },
  );
});

t.test('any cursor, tail and file id give whole lines of the file', async t => {
  const lines = Array.from({ length: 400 }, (_, i) => `line ${i} ${'é'.repeat(i % 30)}`);
  const file = path.join(testDir(t, { 'a.log': `${lines.join('\n')}\nunfinished` }), 'a.log');
  const whole = new Set(lines);
  const { size, fileId } = await read(file);
  const request = fc.record({
    cursor: fc.option(fc.nat(size + 100), { nil: undefined }),
    tailBytes: fc.integer({ min: 1_024, max: size + 100 }),
    fileId: fc.constantFrom(undefined, fileId ?? undefined, '0:0'),
  });
  await fc.assert(
    fc.asyncProperty(request, async asked => {
      const page = await read(file, asked);
      const shown = page.chunk.split('\n');
      t.equal(shown.pop(), '');
      t.ok(shown.every(line => whole.has(line)));
      t.ok(Buffer.byteLength(page.chunk) <= asked.tailBytes);
      const goesOn =
        asked.cursor !== undefined &&
        asked.fileId !== '0:0' &&
        asked.cursor <= size &&
        size - asked.cursor <= asked.tailBytes;
      t.equal(page.reset, !goesOn);
      const end = size - 'unfinished'.length;
      t.equal(page.cursor, goesOn ? Math.max(asked.cursor ?? 0, end) : end);
    }),
    { numRuns: 150, examples: [[{ cursor: size - 5, tailBytes: 1_024, fileId: undefined }]] },
  );
});

t.test('a rotated, cut or overtaken file starts anew', async t => {
  const dir = testDir(t, { 'a.log': 'one\ntwo\n' });
  const file = path.join(dir, 'a.log');
  const first = await read(file);
  t.match(first, { chunk: 'one\ntwo\n', cursor: 8, size: 8, reset: true, fileId: /^[0-9a-f]+:[0-9a-f]+$/ });
  await rename(file, `${file}.1`);
  await writeFile(file, 'three\nfour\nfive\n');
  const rotated = await read(file, after(first));
  t.match(rotated, { chunk: 'three\nfour\nfive\n', reset: true });
  t.not(rotated.fileId, first.fileId);
  await writeFile(file, 'six\n');
  const cut = await read(file, after(rotated));
  t.match(cut, { chunk: 'six\n', cursor: 4, reset: true });
  await appendFile(file, `${'x'.repeat(99)}\n`.repeat(20));
  const behind = await read(file, after(cut));
  t.match(behind, { chunk: `${'x'.repeat(99)}\n`.repeat(10), cursor: 2_004, reset: true });
});

t.test('a secret is masked when a page ends within it', async t => {
  const file = path.join(testDir(t, { 'a.log': 'first\npassword: hun' }), 'a.log');
  const page = await read(file);
  t.equal(page.chunk, 'first\n');
  await appendFile(file, 'ter2\nnext\n');
  t.equal((await read(file, after(page))).chunk, 'password: [REDACTED]\nnext\n');
  t.equal((await read(file, { cursor: 16 })).chunk, 'next\n', 'a made-up cursor inside the line');
});

t.test('a line longer than the piece is cut', async t => {
  const file = path.join(testDir(t, { 'a.log': 'y'.repeat(3_000) }), 'a.log');
  const page = await read(file);
  t.match(page, { chunk: 'y'.repeat(1_024), cursor: 3_000, reset: true });
  await appendFile(file, '\nnext\n');
  t.match(await read(file, after(page)), { chunk: 'next\n', reset: false });
});

t.test('the end of a last line longer than the piece is shown, without half of a secret', async t => {
  const file = path.join(testDir(t, { 'a.log': `first\n${'y'.repeat(3_000)}\n` }), 'a.log');
  const page = await read(file);
  t.match(page, { chunk: `${'y'.repeat(1_023)}\n`, cursor: 3_007, reset: true });
  await appendFile(file, 'next\n');
  t.match(await read(file, after(page)), { chunk: 'next\n', reset: false });

  await writeFile(file, `${'ä'.repeat(3_000)}\nunfinished`);
  t.match(await read(file), { chunk: `${'ä'.repeat(506)}\n`, cursor: 6_001 }, 'before a line that has not ended');

  for (const end of ['\n', '']) {
    await writeFile(file, `password=${'s3cret'.repeat(300)} done${end}`);
    t.equal((await read(file)).chunk, `password=[REDACTED] done${end}`, 'a secret that begins before the piece');
  }

  await writeFile(file, `password=${'s3cret'.repeat(5_000)} token=${'t0ken'.repeat(14_000)} end\n`);
  t.equal((await read(file, { tailBytes: 20_000 })).chunk, '', 'what was looked at begins within a secret');

  await writeFile(file, '');
  await truncate(file, 2 ** 31);
  await appendFile(file, 'end\n');
  t.equal((await read(file)).chunk, `${'\0'.repeat(1_020)}end\n`);
});

t.test("the host's own log starts at its newest banner", async t => {
  const banner = 'Apr 2, 2025 10:04:01 - INFO - host: Stackwarden 1.0.0 starts\n';
  const text = `${banner}old\n${banner}new\n`;
  const file = path.join(testDir(t, { 'a.log': text }), 'a.log');
  t.equal((await read(file, { ownLog: true })).chunk, `${banner}new\n`);
  t.equal((await read(file)).chunk, text);
  t.equal((await read(file, { ownLog: true, cursor: 0 })).chunk, text, 'only without a cursor');
  const quoted = `Apr 2, 2025 10:04:02 - INFO - Kid subprocess: ${banner}`;
  await appendFile(file, quoted);
  t.equal((await read(file, { ownLog: true })).chunk, `${banner}new\n${quoted}`, 'what a service says is none');
  const precise = banner.replace('10:04:01', '10:04:03.007');
  await appendFile(file, `${precise}newest\n`);
  t.equal((await read(file, { ownLog: true })).chunk, `${precise}newest\n`, 'a time with milliseconds');
});

t.test("the host's own log in JSON starts at its newest banner", async t => {
  const message = 'host: Stackwarden 1.0.0 starts';
  const line = (record: Partial<LogLine> = {}) =>
    `${formatRecordAsJson({ at: Date.UTC(2025, 3, 2), level: 'INFO', text: message, ...record })}\n`;
  const text = `${line()}${line({ text: 'host: old' })}${line()}${line({ text: 'host: new' })}`;
  const file = path.join(testDir(t, { 'a.log': text }), 'a.log');
  t.equal((await read(file, { ownLog: true })).chunk, `${line()}${line({ text: 'host: new' })}`);
  t.equal((await read(file)).chunk, text);
  const told = line({ processName: 'Kid' });
  const quoted = line({ processName: 'Kid', text: line().trimEnd() });
  await writeFile(file, `${line()}${told}${quoted}`);
  t.equal((await read(file, { ownLog: true })).chunk, `${line()}${told}${quoted}`, 'what a service says is none');
  const asText = `Apr 2, 2025 10:04:01 - INFO - ${message}\n`;
  await writeFile(file, `${line()}${asText}${told}`);
  t.equal((await read(file, { ownLog: true })).chunk, `${asText}${told}`, 'after a change of the format');
});

t.test('an irregular file gives an empty page', async t => {
  const dir = testDir(t, { 'a.log': 'text\n', folder: {}, 'link.log': t.fixture('symlink', 'a.log') });
  execFileSync('mkfifo', [path.join(dir, 'pipe.log')]);
  const nothing = { size: 0, cursor: 0, chunk: '', reset: true, fileId: null };
  for (const name of ['absent.log', 'folder', 'link.log', 'pipe.log', 'a.log/b']) {
    t.same(await read(path.join(dir, name)), nothing, name);
  }
  t.same(await pages.read(async () => null, start), nothing);
  await rm(path.join(dir, 'pipe.log'));
});

t.test('the page of an unchanged file is cached, and read again after any change', async t => {
  const file = path.join(testDir(t, { 'a.log': 'one\n' }), 'a.log');
  const rests = async () => restingVersion(await stat(file)) !== null;
  await until(rests, { what: 'the file to rest' });
  const page = await read(file);
  t.equal(await read(file), page);
  t.not(await read(file, { cursor: 0 }), await read(file), 'another request');

  const { atime, mtime } = await stat(file);
  await writeFile(file, 'two\n');
  await utimes(file, atime, mtime);
  t.equal((await read(file)).chunk, 'two\n', 'the same size and time of modification');
  await appendFile(file, 'three\n');
  t.equal((await read(file)).chunk, 'two\nthree\n');
});

t.test('a private key in a log is masked, also when a page begins within it', async t => {
  const body = (letter: string): string => `${letter}1+/`.repeat(16);
  for (const kind of ['RSA PRIVATE KEY', 'PGP PRIVATE KEY BLOCK']) {
    const file = path.join(testDir(t), 'a.log');
    const key = [`-----BEGIN ${kind}-----`, 'Version: 2', '', body('a'), body('b'), '=dD1x', `-----END ${kind}-----`];
    await writeFile(file, ['before', ...key, 'behind', 'last', ''].join('\n'));
    const whole = await read(file);
    t.equal(whole.chunk, 'before\n[REDACTED]\nbehind\nlast\n');
    const cut = await read(file, { tailBytes: 80 });
    t.equal(cut.chunk, 'behind\nlast\n', 'a tail');

    await writeFile(file, ['before', ...key.slice(0, 4), ''].join('\n'));
    const first = await read(file);
    t.equal(first.chunk, 'before\n[REDACTED]\n');
    await appendFile(file, [...key.slice(4), 'behind', ''].join('\n'));
    t.equal((await read(file, after(first))).chunk, 'behind\n', 'the next page');

    await writeFile(file, ['before', ...key.slice(0, 4), ''].join('\n'));
    let page = await read(file);
    for (const line of [...key.slice(4), 'behind']) {
      await appendFile(file, `${line}\n`);
      page = await read(file, after(page));
      t.equal(page.chunk, line === 'behind' ? 'behind\n' : '', `a page for ${line}`);
    }
  }
});

/** The number of turns that the event loop has while lines are searched, and what is shown of them. */
async function searched(text: string): Promise<{ readonly turns: number; readonly shown: string }> {
  let turns = 0;
  let next: NodeJS.Immediate;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  next = setImmediate(count);
  const shown = await redactLines(Buffer.from(text));
  clearImmediate(next);
  return { turns, shown };
}

t.test('long lines full of secrets leave room for others in between', async t => {
  const [secret, masked] = ['password=p&', 'password=[REDACTED]&'];
  const many = await searched(`${secret.repeat(5_000)}\n`.repeat(20));
  t.equal(many.shown, `${masked.repeat(5_000)}\n`.repeat(20));
  t.ok(many.turns >= 9, `${many.turns} turns for many lines`);
  const long = `${secret.repeat(20_000)}\n`;
  const one = await searched(long);
  t.equal(one.shown, `${masked.repeat(20_000)}\n`);
  t.ok(one.turns >= 9, `${one.turns} turns for one line`);
  const crowd = await Promise.all(Array.from({ length: 110 }, () => redactLines(Buffer.from(long))));
  t.equal(crowd.at(-1), '[REDACTED]\n', 'what nobody has time to search is not shown');
});
