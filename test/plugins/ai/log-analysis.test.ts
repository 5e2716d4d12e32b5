// The analysis of logs: one pass over the files of a log summarizes the lines of two time spans, within a budget and
// without secrets.
import { closeSync, openSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { levelOf } from '../../../plugins/ai/logs/line-level.ts';
import { timeOf } from '../../../plugins/ai/logs/line-time.ts';
import { type ScanRequest, scanLogs } from '../../../plugins/ai/logs/log-scan.ts';
import { readTail } from '../../../plugins/ai/logs/log-tail.ts';
import { readInThread } from '../../../plugins/ai/logs/log-thread.ts';
import { questionWords } from '../../../plugins/ai/logs/question-words.ts';
import { signatureOf } from '../../../plugins/ai/logs/signature.ts';
import { testDir } from '../../support/directory.ts';

const NOW = Date.now();
const HOUR_MS = 3_600_000;
const isoAt = (agoMs: number) => new Date(NOW - agoMs).toISOString();

/** Opens the files of a log for a scan, the newest first. */
function opened(
  t: Parameters<typeof testDir>[0],
  files: Readonly<Record<string, string | Buffer>>,
): ScanRequest['files'] {
  const dir = testDir(t);
  return Object.entries(files).map(([name, content], index) => {
    const file = path.join(dir, name);
    writeFileSync(file, content);
    const descriptor = openSync(file, 'r');
    t.teardown(() => closeSync(descriptor));
    return { name, descriptor, sizeBytes: statSync(file).size, modifiedMs: NOW - index * 60_000 };
  });
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into analyses of any shape
async function scan(files: ScanRequest['files'], request: Partial<ScanRequest> = {}): Promise<any> {
  const { analysis } = await scanLogs({
    files,
    discovered: files.length,
    current: { fromMs: NOW - HOUR_MS, toMs: NOW },
    baseline: { fromMs: NOW - 2 * HOUR_MS, toMs: NOW - HOUR_MS },
    keywords: [],
    budgetBytes: 1024 * 1024,
    excerpts: { current: 40, baseline: 20 },
    secrets: [],
    endsMs: Number.POSITIVE_INFINITY,
    ...request,
  });
  return analysis;
}

t.test('the time of a line is read in many forms', async t => {
  const local = new Date(2026, 0, 2, 3, 4, 5).getTime();
  const utc = Date.UTC(2026, 0, 2, 3, 4, 5);
  const forms: readonly (readonly [line: string, atMs: number])[] = [
    ['Jan 2, 2026 03:04:05 - INFO - up', local],
    ['Jan  2, 2026 03:04:05 - INFO - up', local],
    ['2026-01-02 03:04:05 up', local],
    ['2026-01-02 03:04:05.250|Info|up', local + 250],
    ['2026-01-02 03:04:05,678 - ERROR - up', local + 678],
    ['[2026-01-02T03:04:05.5Z] up', utc + 500],
    ['2026-01-02T03:04:05+02:00 up', utc - 2 * HOUR_MS],
    ['2026-01-02 03:04:05.123 UTC [12] LOG: up', utc + 123],
    ['2026/01/02 03:04:05 ERROR : up', local],
    [`{"level":"info","time":${utc},"msg":"up"}`, utc],
    [`{"ts":${utc / 1_000}.5,"msg":"up"}`, utc + 500],
    ['{"time":"2026-01-02T03:04:05Z","msg":"up"}', utc],
  ];
  for (const [line, atMs] of forms) t.equal(timeOf(line)?.atMs, atMs, line);
  for (const line of ['up', '    at main (/app/x.js:1:2)', '{"msg":"up"}', '1234-56', ''])
    t.equal(timeOf(line), undefined);
});

t.test('the level of a line is read in many forms', async t => {
  const forms = {
    debug: ['[DBG] x', 'a - DEBUG - x', 'level=debug msg=x', '{"level":20,"msg":"x"}'],
    info: [
      '[INF] x',
      'a - INFO - x',
      '|Info|x',
      'x',
      '{"level":"info"}',
      '[import] x',
      '{"level":30}',
      '{"level":500}',
    ],
    warning: ['[WRN] x', 'a - WARNING - x', '|Warn|x', 'level=warning', '[WARN] x', 'WARN x', '{"level": 40, "a": 1}'],
    error: [
      '[ERR] x',
      'a - ERROR - x',
      '|Error|x',
      '{"level":"error"}',
      '{"level":"error","gzip":{"level":10}}',
      '{"pid":1,"level":50,"msg":"x"}',
      '[ERROR] refused {"level":30}',
      '[error] x',
      'ERROR : x',
      'Error: x',
      'it failed',
      'Traceback (most',
    ],
    critical: ['[FTL] x', 'a - CRITICAL - x', '|Fatal|x', 'UTC [12] FATAL:  x', 'PANIC: x', '{"level":60}'],
  };
  for (const [level, lines] of Object.entries(forms)) for (const line of lines) t.equal(levelOf(line, 0), level, line);
});

t.test('similar lines have one signature, without names and paths', async t => {
  const one = signatureOf(
    'item 12 of "A Show" at /data/a.mkv from 203.0.113.1 failed: 550e8400-e29b-41d4-a716-446655440000',
  );
  const other = signatureOf(
    "item 7 of 'Another' at /mnt/b/c.mkv from 203.0.113.9 failed: 123e4567-e89b-12d3-a456-426614174000",
  );
  t.equal(one, other);
  t.equal(one, 'item <n> of <text> at <path> from <ip> failed: <id>');
  t.notMatch(signatureOf('cannot reach http://x?apikey=0123456789abcdef0123'), '0123456789abcdef');
});

t.test('lines of JSON are told apart by their messages, wherever these stand', async t => {
  const host = 'h'.repeat(300);
  const line = (agoMs: number, rest: object) => JSON.stringify({ level: 50, time: NOW - agoMs, host, ...rest });
  const analysis = await scan(
    opened(t, {
      'a.log': [
        line(4_000, { err: { message: 'inner' }, msg: 'cannot read "A Show" 12' }),
        line(3_000, { err: { message: 'inner' }, msg: 'cannot read "Another" 7' }),
        line(2_000, { msg: 'the queue is full' }),
        line(1_000, { message: 'no route' }),
        '',
      ].join('\n'),
    }),
  );
  t.same(analysis.levels, { error: 4 });
  t.same(
    analysis.top_error_signatures.map(({ count }: { count: number }) => count),
    [2, 1, 1],
  );
  t.match(analysis.top_error_signatures[0].signature, /^cannot read .*<text> <n>$/);
  t.same(
    analysis.top_error_signatures.slice(1).map(({ signature }: { signature: string }) => signature),
    ['the queue is full', 'no route'],
  );
});

t.test('both spans are summarized in one pass over rotated files', async t => {
  const old = [
    `${isoAt(3 * HOUR_MS)} ERROR too old`,
    `${isoAt(1.5 * HOUR_MS)} ERROR item 1 timed out`,
    `${isoAt(1.2 * HOUR_MS)} INFO Application started`,
  ];
  const middle = [`${isoAt(50 * 60_000)} ERROR item 2 timed out`, `${isoAt(40 * 60_000)} WARNING slow`];
  const present = [
    `${isoAt(20 * 60_000)} INFO Service stopped`,
    `${isoAt(19 * 60_000)} INFO Now listening on 8989`,
    `${isoAt(10 * 60_000)} ERROR listen EADDRINUSE: address already in use 0.0.0.0:8989`,
    '    at Server.setupListenHandle (node:net:1817:16)',
    `${isoAt(9 * 60_000)} INFO token=hunter2hunter2 the library is read`,
    `${isoAt(-60_000)} ERROR of the future`,
  ];
  const analysis = await scan(
    opened(t, {
      'app.log': present.join('\n'),
      'app-2026-01-01_1.log': `${middle.join('\r\n')}\r\n`,
      'app-2026-01-01_2.log.gz': gzipSync(`${old.join('\n')}\n`),
    }),
    { keywords: questionWords('What about the library of this service?') },
  );
  t.match(analysis.coverage, {
    available: true,
    files_discovered: 3,
    files_scanned: 3,
    lines_scanned: 11,
    lines_in_window: 6,
    all_retained_files_scanned: true,
    truncated: false,
    partial_file_scanned: false,
    timed_out: false,
  });
  t.same(analysis.levels, { error: 2, warning: 1, info: 3 });
  t.equal(analysis.restart_markers, 1);
  t.equal(analysis.stop_markers, 1);
  t.equal(analysis.longest_activity_gap_seconds, 1_200);
  const signatures = analysis.new_error_signatures.map(({ signature }: { signature: string }) => signature);
  t.same(signatures, ['WARNING slow', 'ERROR listen EADDRINUSE: address already in use <ip>:<n>']);
  t.match(analysis.known_causes, [{ id: 'port-taken', count: 1, file: 'app.log', line: 3 }]);
  const contents = analysis.excerpts.map(({ content }: { content: string }) => content);
  t.equal(contents.length, 4, 'what is severe, and what the question names');
  t.match(contents[2], /EADDRINUSE[^\n]*\n {4}at Server/, 'a trace belongs to its line');
  t.match(contents[3], 'token=[REDACTED] the library is read');
  t.match(analysis.baseline, { levels: { error: 1, info: 1 }, restart_markers: 1, lines_in_window: 2 });
});

t.test('an error that was rare among many in the baseline is not new', async t => {
  const letter = (number: number) => String.fromCharCode(97 + number);
  const words = Array.from({ length: 200 }, (_, index) => letter(Math.floor(index / 20)) + letter(index % 20));
  const before = `${isoAt(1.5 * HOUR_MS)} ERROR`;
  const lines = [...words, ...words, 'rare'].map(word => `${before} fault ${word}`);
  const analysis = await scan(opened(t, { 'app.log': [...lines, `${isoAt(60_000)} ERROR fault rare`].join('\n') }));
  t.equal(analysis.baseline.levels.error, 401);
  t.match(analysis.top_error_signatures, [{ signature: 'ERROR fault rare', count: 1 }]);
  t.same(analysis.new_error_signatures, []);
});

t.test('without a baseline, errors of the second half count as new', async t => {
  const lines = [50, 40, 20, 10].map(
    minutes => `${isoAt(minutes * 60_000)} ERROR ${minutes >= 40 ? 'early' : 'late'} fault`,
  );
  const analysis = await scan(opened(t, { 'app.log': [...lines, `${isoAt(60_000)} ERROR early fault`].join('\n') }), {
    baseline: null,
  });
  t.same(analysis.new_error_signatures, [{ signature: 'ERROR late fault', count: 2 }]);
  t.notOk('baseline' in analysis);
});

t.test('lines without a time are as old as the line before them, or as their file', async t => {
  const fault = 'listen EADDRINUSE: address already in use 0.0.0.0:8989\n';
  const [present, earlier] = opened(t, { 'app.log': fault, 'app.1.log': fault });
  if (present === undefined || earlier === undefined) throw new Error('there are no files');
  const untimed = await scan([
    { ...present, modifiedMs: NOW - 60_000 },
    { ...earlier, modifiedMs: NOW - 1.5 * HOUR_MS },
  ]);
  const toSeconds = (agoMs: number) => `${isoAt(agoMs).slice(0, 19)}Z`;
  t.match(untimed.known_causes, [{ id: 'port-taken', count: 1, file: 'app.log', at: toSeconds(60_000) }]);
  t.match(untimed.baseline.known_causes, [{ count: 1, file: 'app.1.log', at: toSeconds(1.5 * HOUR_MS) }]);
  const lines = `${isoAt(30 * 60_000)} INFO starting\n${fault}${isoAt(20 * 60_000)} INFO again\n${fault}`;
  const timed = await scan(opened(t, { 'app.log': lines }));
  const times = { first_at: toSeconds(30 * 60_000), at: toSeconds(20 * 60_000) };
  t.match(timed.known_causes, [{ id: 'port-taken', count: 2, ...times }]);
});

t.test('a budget is spent on the newest lines', async t => {
  const line = (minutes: number) => `${isoAt(minutes * 60_000)} ERROR password: "a b c" of minute ${minutes}\n`;
  const present = Array.from({ length: 50 }, (_, index) => line(50 - index)).join('');
  const files = opened(t, { 'app.log': present, 'app.1.log': line(55) });
  const { coverage, excerpts } = await scan(files, { budgetBytes: 700 });
  t.match(coverage, { files_scanned: 1, partial_file_scanned: true, truncated: true, bytes_scanned: 700 });
  t.ok(coverage.lines_scanned < 12 && coverage.lines_scanned > 5, 'the line that is cut does not count');
  t.match(excerpts.at(-1).content, 'of minute 1');
  t.notMatch(JSON.stringify(excerpts), 'a b c');
});

t.test('the budget counts uncompressed bytes', async t => {
  const text = Array.from({ length: 5_000 }, (_, index) => `${isoAt(60_000)} ERROR of file ${index % 3}\n`).join('');
  const names = Array.from({ length: 6 }, (_, index) => `app-2026-01-0${index + 1}.log.gz`);
  const files = opened(t, Object.fromEntries(names.map(name => [name, gzipSync(text)])));
  const budgetBytes = Math.round(text.length * 2.5);
  const { coverage } = await scan(files, { budgetBytes });
  t.match(coverage, { files_scanned: 3, partial_file_scanned: true, truncated: true, bytes_scanned: budgetBytes });
  const all = await scan(files, { budgetBytes: text.length * 6 });
  t.match(all.coverage, { files_scanned: 6, truncated: false, lines_scanned: 30_000, bytes_scanned: text.length * 6 });
  const cut = opened(t, { 'app.log.gz': Buffer.from('gz'), 'app.1.log.gz': gzipSync(text).subarray(0, -4) });
  t.match((await scan(cut)).coverage, { files_scanned: 2, truncated: true }, 'what is damaged is read so far');
});

t.test('frequent lines do not displace severe ones', async t => {
  const lines = Array.from({ length: 500 }, (_, index) => `${isoAt((500 - index) * 5_000)} INFO library item ${index}`);
  lines.splice(10, 0, ...Array.from({ length: 30 }, (_, index) => `${isoAt(490 * 5_000)} ERROR fault ${index}`));
  const { excerpts } = await scan(opened(t, { 'app.log': lines.join('\n') }), { keywords: ['library'] });
  const severe = excerpts.filter(({ level }: { level: string }) => level === 'error');
  t.equal(excerpts.length, 40);
  t.equal(severe.length, 20);
});

t.test('keys over several lines, binary data and endless lines do no harm', async t => {
  const key = [
    '-----BEGIN PRIVATE KEY-----',
    'MIIEvgIBADANBgkqhkiG9w0BAQEFAASC',
    'BKgwggSkAgEAAoIBAQC7VJTUt9Us8cKj',
    '-----END PRIVATE KEY-----',
  ];
  const lines = [
    `${isoAt(60_000)} ERROR the key is bad:`,
    ...key,
    `${isoAt(50_000)} ERROR ${'x'.repeat(200_000)}`,
    `${isoAt(40_000)} ERROR \u0000\u001b[31m\ufffd`,
    `${isoAt(30_000)} ERROR last`,
  ];
  const analysis = await scan(opened(t, { 'app.log': lines.join('\n') }));
  t.equal(analysis.levels.error, 4);
  t.notMatch(JSON.stringify(analysis), 'MIIEvgIBADANBgkqhkiG');
  t.ok(JSON.stringify(analysis).length < 20_000);
  const empty = await scan(opened(t, { 'app.log': '' }));
  t.match(empty, { levels: {}, excerpts: [], top_error_signatures: [], known_causes: [] });
});

t.test('line times that differ from the file time by hours give a clock offset', async t => {
  const localMs = NOW + 2 * HOUR_MS - new Date(NOW).getTimezoneOffset() * 60_000;
  const shifted = new Date(localMs).toISOString().slice(0, 19).replace('T', ' ');
  const { clock_offset_seconds: seconds } = await scan(opened(t, { 'app.log': `${shifted} INFO up\n` }));
  t.equal(seconds, 7_200);
  const { clock_offset_seconds: none } = await scan(opened(t, { 'app.log': `${isoAt(0)} INFO up\n` }));
  t.equal(none, null);
});

t.test('the end of a log begins with a whole line', async t => {
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index} password=hunter2secret`);
  const [file] = opened(t, { 'app.log': `${lines.join('\n')}\n` });
  if (file === undefined) throw new Error('there is no file');
  const tail = readTail({ file, maxChars: 300, secrets: ['line 99'] });
  t.ok(tail.length <= 300 && tail.length > 150, `${tail.length} characters`);
  t.notMatch(tail, 'hunter2');
  t.match(tail, '[REDACTED] password=[REDACTED]\n');
  const ends = Array.from({ length: 60 }, (_, more) => readTail({ file, maxChars: 200 + more, secrets: [] }));
  for (const end of ends) t.match(end, /^line \d\d password=\[REDACTED\]\n/);
  t.equal(ends.filter((end, more) => end.length === 200 + more).length, 2, 'a line that just fits is there');
  const [long] = opened(t, { 'app.log': `first\n${'x'.repeat(300)}\n` });
  if (long === undefined) throw new Error('there is no file');
  t.equal(readTail({ file: long, maxChars: 100, secrets: [] }), `${'x'.repeat(99)}\n`, 'a longer line is cut');
});

t.test('the analysis runs in a thread, which ends with its signal', async t => {
  const files = opened(t, { 'app.log': `${isoAt(1_000)} ERROR it failed\n` });
  const request = {
    files,
    discovered: 1,
    current: { fromMs: NOW - HOUR_MS, toMs: NOW },
    baseline: null,
    keywords: [],
    budgetBytes: 1024,
    excerpts: { current: 40, baseline: 20 },
    secrets: [],
    endsMs: Number.MAX_SAFE_INTEGER,
  };
  const [read] = await readInThread([{ kind: 'scan', request }], new AbortController().signal);
  t.match(read, { result: { analysis: { levels: { error: 1 } } } });
  const gone = { ...request, files: [{ name: 'x.log', descriptor: 1_000_000, sizeBytes: 10, modifiedMs: NOW }] };
  const [, tail] = await readInThread(
    [
      { kind: 'scan', request: gone },
      {
        kind: 'tail',
        request: {
          file: { name: 'x.log', descriptor: 1_000_000, sizeBytes: 10, modifiedMs: NOW },
          maxChars: 10,
          secrets: [],
        },
      },
    ],
    new AbortController().signal,
  );
  t.match(tail, { error: /bad file descriptor/ }, 'what cannot be read is told');
  const aborted = new AbortController();
  aborted.abort();
  t.match(await readInThread([{ kind: 'scan', request }], aborted.signal), [{ error: /not read in time/ }]);
});
