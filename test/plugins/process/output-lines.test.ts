// Lines that are copied as bytes are those that would be the same as text: nothing secret, no code and no level is missed.
import fc from 'fast-check';
import t from 'tap';
import { redact, SECRET_WORDS } from '../../../core/kit/redact.ts';
import { formatBlock } from '../../../plugins/process/capture/log-block.ts';
import { MAX_LINE_BYTES, PlainLine, toLines } from '../../../plugins/process/capture/output-lines.ts';

const WORDS = ['INFO', 'Error', 'warning', 'WARN', 'ERRORS', 'x_INFO', 'crit', 'TRACE:', '[debug]', 'notice', 'fatal_'];
const PIECES = [
  ...WORDS,
  ...SECRET_WORDS.map(word => `my${word.toUpperCase()}=abcdefgh12345678`),
  ...['\0', '\x1b[31m', '\r', '\t', ' ', 'é', '@', 'a@b.example', '1.5', '-----BEGIN PRIVATE KEY-----', 'ABCD+/=='],
  'words of a line that holds nothing',
];

const line = fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map(parts => parts.join(' '));
const text = fc.array(line, { maxLength: 12 });

t.test('each line is what it would be if every line became text', async t => {
  t.doesNotThrow(
    () =>
      fc.assert(
        fc.property(text, lines => {
          const bytes = Buffer.from(`${lines.join('\n')}\n`);
          // A byte that is replaced, behind so many blanks that it is no part of the level, makes every line text.
          const asText = toLines(
            Buffer.from(`${lines.map(own => (own.trim() === '' ? own : `${own} é`)).join('\n')}\n`),
          );
          const asBytes = toLines(bytes);
          const levels = (found: ReturnType<typeof toLines>) => found.map(({ level }) => level);
          const isWithoutKeys = !bytes.includes('PRIVATE') && !/[\r\0\x1b]/.test(lines.join(''));
          return !isWithoutKeys || JSON.stringify(levels(asBytes)) === JSON.stringify(levels(asText));
        }),
      ),
    'levels are the same by bytes and by text',
  );
  t.doesNotThrow(
    () =>
      fc.assert(
        fc.property(text, lines =>
          toLines(Buffer.from(`${lines.join('\n')}\n`)).every(
            found => !(found instanceof PlainLine) || redact(found.text) === found.text,
          ),
        ),
      ),
    'lines that stay bytes have no secret',
  );
});

t.test('the block of a log holds the same as the lines', async t => {
  t.doesNotThrow(
    () =>
      fc.assert(
        fc.property(text, lines => {
          const found = toLines(Buffer.from(lines.join('\n')));
          const at = Date.UTC(2026, 0, 2);
          const block = formatBlock(found, at, 'Näme').toString('utf8').split('\n');
          return (
            block.pop() === '' &&
            block.length === found.length &&
            found.every(({ level, text: shown }, index) =>
              block[index]?.endsWith(` - ${level} - Näme subprocess: ${shown}`),
            )
          );
        }),
      ),
    'the block says what the lines say',
  );
});

t.test('the place of a level, the longest line, and a key whose beginning is hidden', async t => {
  const level = (shown: string) => toLines(Buffer.from(`${shown}\n`))[0]?.level;
  t.equal(level(`${'x'.repeat(75)} ERROR`), 'INFO', 'cut by the end of what is looked at');
  t.equal(level(`${'x'.repeat(74)} ERROR`), 'ERROR');
  t.equal(level(`${'x'.repeat(75)} INFORMATION`), 'INFO');
  t.equal(level('an errorless start, then a warning'), 'WARNING');
  t.equal(level('x'.repeat(90)), 'INFO');
  t.equal(toLines(Buffer.from(`${'x'.repeat(MAX_LINE_BYTES)}\n`)).length, 1);
  t.equal(toLines(Buffer.from(`${'x'.repeat(MAX_LINE_BYTES + 1)}\n`)).length, 2);
  t.equal(toLines(Buffer.from('@\n'.repeat(200_000))).length, 200_000, 'any number of lines');
  const body = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDdlatRjRjogo3W';
  const hidden = `-----BEGIN PRIV\x1b[1mATE KEY-----\n${body}\nplain words\n`;
  t.notOk(JSON.stringify(toLines(Buffer.from(hidden)).map(({ text: shown }) => shown)).includes(body));
});
