// Lines that are processed as bytes equal those that are processed as text: no secret, terminal code or level is
// missed, and the block of a log holds the same.
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import type { LogLevel } from '../../../core/contract/log.ts';
import { levelInJson } from '../../../core/kit/json-level.ts';
import { KeyBlock } from '../../../core/kit/key-block.ts';
import { passes } from '../../../core/kit/log-level.ts';
import { formatRecord, recordsOf } from '../../../core/kit/log-line.ts';
import { redact } from '../../../core/kit/redact.ts';
import { MAX_SCANNED_BYTES } from '../../../plugins/process/capture/line-scan.ts';
import { LogBlock } from '../../../plugins/process/capture/log-block.ts';
import { completeBytes, MAX_LINE_BYTES, OutputLines, toLines } from '../../../plugins/process/capture/output-lines.ts';

const EVERY_RULE = -1;
const LEVELS: Readonly<Record<string, LogLevel>> = {
  ...{ TRACE: 'DEBUG', DEBUG: 'DEBUG', INFO: 'INFO', NOTICE: 'INFO', WARN: 'WARNING', WARNING: 'WARNING' },
  ...{ ERR: 'ERROR', ERROR: 'ERROR', FATAL: 'CRITICAL', CRIT: 'CRITICAL', CRITICAL: 'CRITICAL' },
};

/** The result for output when each line becomes text and every rule examines it. */
function asText(bytes: Buffer): { level: LogLevel; text: string }[] {
  const keys = new KeyBlock();
  return bytes
    .toString('utf8')
    .split('\n')
    .flatMap(raw => {
      const plain = raw
        .replaceAll('\0', '')
        .replaceAll(/\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[@-Z\\-_])/g, '');
      return [keys.shown(plain)].flatMap(shown => {
        const text = String(shown.trimEnd().split('\r').at(-1));
        const found = /\b(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|FATAL|CRIT(?:ICAL)?)\b/i.exec(
          text.slice(0, 80),
        );
        const level = levelInJson(text) ?? LEVELS[String(found?.[1]).toUpperCase()] ?? 'INFO';
        return text === '' ? [] : [{ level, text: redact(text, EVERY_RULE) }];
      });
    });
}

const PIECES = [
  'INFO|Error|warning|WARN|ERRORS|x_INFO|crit|TRACE:|[debug]|notice|fatal_|2026|token|Key|key=|api|API_|user|plex',
  'Jellyfin |account|secret|PASS|word|session|_id|id|device|server|uu|machine|identifier|client-|cred|credentials',
  'authorization|Authorization: |cookie|Bearer |basic |_auth|&auth=|?code=|&sid=|x-a-|access|private |sign|ing|claim-',
  'encrypt|pwd|jwt|dsn|otp|eyJhbGciOi.eyJzdWIi.sig|sk-|xoxb-|ghp_abcdef|github_pat_|glpat-abcdef|AIza|1234567:AA|AA',
  'AKIAABCDEFGHIJKL|/api/webhooks/12/|hooks.slack.com/services/|http://|:pw@|@|a@b.example|=|: |"|\'|-|_|/|?|&|,',
  '\0|\x1b[31m|\x1b|\r|\t| |  |é|\u{1f600}|\x7f|\xa0|-----BEGIN |PRIVATE KEY-----|-----END |ABCD+/==|creds',
  '{"level":"warn",|{"msg":"an error","level":50}|{|}|"severity": "NOTICE"',
  `MIIEvQIBADANBgkqhkiG9w0BAQ|abcdefgh12345678|words that hold nothing|${'x'.repeat(70)}`,
].flatMap(pieces => pieces.split('|'));
const piece = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...PIECES) }, fc.string({ maxLength: 5 }));
const line = fc.array(piece, { maxLength: 12 }).map(parts => parts.join(''));
const output = fc
  .tuple(fc.uint8Array({ maxLength: 3 }), fc.array(line, { maxLength: 12 }), fc.uint8Array({ maxLength: 3 }))
  .map(([first, lines, last]) => Buffer.concat([first, Buffer.from(lines.join('\n')), last]));

/** Output longer than what is scanned at once. */
const long = fc.tuple(output, fc.constantFrom('\n', '\r\n'), fc.nat({ max: 200 })).map(([bytes, end, shift]) => {
  const ordinary = Buffer.from(`2026-01-02 INFO a line that holds nothing${end}`.repeat(700));
  const parts = Array.from({ length: 7 }, () => [ordinary, bytes, Buffer.from(end)]).flat();
  return Buffer.concat([Buffer.from('x'.repeat(shift)), ...parts]);
});

t.test('each line is as if it were processed as text', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(output, bytes => JSON.stringify([...toLines(bytes)]) === JSON.stringify(asText(bytes))),
      { numRuns: 1_000 },
    ),
  );
});

t.test('the same where output is longer than what is scanned at once, and where lines end as on Windows', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(long, bytes => {
        t.ok(bytes.length > MAX_SCANNED_BYTES);
        return JSON.stringify([...toLines(bytes)]) === JSON.stringify(asText(bytes));
      }),
      { numRuns: 20 },
    ),
  );
  const words = 'a line that is too long ';
  const tooLong = words.repeat((3 * MAX_SCANNED_BYTES) / words.length);
  const around = [...toLines(Buffer.from(`the ERROR before\n${tooLong}\ntoken=abcdef12345678\n\nlast`))];
  t.same(around.at(0), { level: 'ERROR', text: 'the ERROR before' });
  const inside = around.slice(1, -2).map(({ text }) => text);
  // Blanks at a cut are removed.
  t.equal(inside.join('').replaceAll(' ', ''), tooLong.replaceAll(' ', ''));
  t.same(around.slice(-2), [
    { level: 'INFO', text: 'token=[REDACTED]' },
    { level: 'INFO', text: 'last' },
  ]);
});

interface Assembly {
  Module: new (code: Uint8Array) => object;
  Instance: new (module: object) => object;
  readonly CompileError: new (message: string) => Error;
}

for (const { where, part, failure } of [
  {
    where: 'where addresses are limited so that WebAssembly has no memory',
    part: 'Instance',
    failure: () => new RangeError('Out of memory: Cannot allocate Wasm memory for new instance'),
  },
  {
    where: 'where the processor lacks what the scan is made of',
    part: 'Module',
    failure: ({ CompileError }: Assembly) => new CompileError('Wasm SIMD unsupported @+97'),
  },
] as const) {
  t.test(`${where}, lines are the same`, async t => {
    const { WebAssembly: assembly } = globalThis as unknown as { WebAssembly: Assembly };
    const usual = assembly[part];
    t.teardown(() => Object.assign(assembly, { [part]: usual }));
    let asked = 0;
    assembly[part] = class {
      constructor() {
        asked += 1;
        throw failure(assembly);
      }
    };
    const anew = new URL(`../../../plugins/process/capture/output-lines.ts?without=${part}`, import.meta.url).href;
    const { toLines: limited } = (await import(anew)) as { toLines: typeof toLines };
    t.doesNotThrow(() =>
      fc.assert(
        fc.property(output, bytes => JSON.stringify([...limited(bytes)]) === JSON.stringify(asText(bytes))),
        { numRuns: 100 },
      ),
    );
    t.equal(asked, 1, 'it is asked for once');
  });
}

t.test('a rule that is skipped would have found nothing', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(line, text => redact(text) === redact(text, EVERY_RULE)),
      { numRuns: 2_000 },
    ),
  );
});

t.test('the block of a log holds the lines of its levels, and gives them back', async t => {
  const again = new LogBlock();
  const at = Date.UTC(2026, 0, 2);
  const level = fc.constantFrom<LogLevel>('DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL');
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(output, level, (bytes, threshold) => {
        const records = [...toLines(bytes)]
          .filter(found => passes(found.level, threshold))
          .map(found => ({ at, ...found, processName: 'Näme' }));
        const captured = again.format(toLines(bytes), at, 'Näme', threshold);
        return (
          Buffer.from(captured.block).toString() === records.map(record => `${formatRecord(record)}\n`).join('') &&
          isDeepStrictEqual(recordsOf(captured), records)
        );
      }),
      { numRuns: 300 },
    ),
  );
  const sizes = fc.constantFrom('Näme', 'x'.repeat(2_000));
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(long, level, sizes, (bytes, threshold, processName) => {
        const shown = [...toLines(bytes)]
          .filter(found => passes(found.level, threshold))
          .map(found => `${formatRecord({ at, ...found, processName })}\n`);
        return (
          Buffer.from(again.format(toLines(bytes), at, processName, threshold).block).toString() === shown.join('')
        );
      }),
      { numRuns: 40 },
    ),
  );
  const all = Buffer.from(Array.from({ length: 127 }, (_, byte) => byte).filter(byte => byte !== 10));
  const lines = new OutputLines(all);
  lines.addBytes('INFO', 0, all.length);
  t.ok(Buffer.from(again.format(lines, at, 'Any', 'INFO').block).includes(all), 'every byte passes unchanged');
});

t.test('the place of a level, the longest line, and a key whose beginning is hidden', async t => {
  const level = (shown: string) => toLines(Buffer.from(`${shown}\n`)).level(0);
  t.equal(level(`${'x'.repeat(75)} ERROR`), 'INFO', 'cut by the end of what is looked at');
  t.equal(level(`${'x'.repeat(74)} ERROR`), 'ERROR');
  t.equal(level(`${'x'.repeat(75)} INFORMATION`), 'INFO');
  t.equal(level('an errorless start, then a warning'), 'WARNING');
  t.equal(level('x'.repeat(90)), 'INFO');
  t.equal(toLines(Buffer.from(`${'x'.repeat(MAX_LINE_BYTES)}\n`)).count, 1);
  t.equal(toLines(Buffer.from(`${'x'.repeat(MAX_LINE_BYTES + 1)}\n`)).count, 2);
  t.equal(toLines(Buffer.from('@\n'.repeat(200_000))).count, 200_000, 'any number of lines');
  const body = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDdlatRjRjogo3W';
  const hidden = `-----BEGIN PRIV\x1b[1mATE KEY-----\n${body}\nplain words\n`;
  t.notOk(JSON.stringify([...toLines(Buffer.from(hidden))]).includes(body));
});

t.test(
  'characters that JavaScript takes for the end of a line are spaces in the one line that they are in',
  async t => {
    const lines = [...toLines(Buffer.from('INFO a\u2028title\u2029\u2028here\nWARN é\u2029\n\u2028\n'))];
    t.strictSame(lines, [
      { level: 'INFO', text: 'INFO a title  here' },
      { level: 'WARNING', text: 'WARN é' },
    ]);
  },
);

t.test('no secret is cut in two where a line is too long', async t => {
  const secret = 'correct-horse-battery-staple';
  const item = `{"name":"x","password":"${secret}","next":1},`;
  const doesLeak = (bytes: Buffer) => /horse|battery|correct|staple/.test(JSON.stringify([...toLines(bytes)]));
  // The cut is at every offset of an item.
  for (let shift = 0; shift < item.length; shift += 1) {
    const long = Buffer.from('x'.repeat(shift) + item.repeat((2 * MAX_LINE_BYTES) / item.length));
    t.notOk(doesLeak(Buffer.concat([long, Buffer.from('\n')])), `whole, shifted by ${shift}`);
    const beginning = long.subarray(0, MAX_LINE_BYTES + shift);
    const cut = completeBytes(beginning, false);
    t.ok(cut > 0 && cut <= beginning.length);
    t.notOk(doesLeak(long.subarray(0, cut)) || doesLeak(long.subarray(cut)), `before its end, shifted by ${shift}`);
  }
});
