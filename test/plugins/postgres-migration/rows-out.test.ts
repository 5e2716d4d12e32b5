// Rows from a server arrive as it sent them, however its messages are divided.
import { PassThrough } from 'node:stream';
import type { Connection } from 'pg';
import t from 'tap';
import { RowsOut } from '../../../plugins/postgres-migration/transfer/rows-out.ts';
import { message } from '../../support/postgres-proxy.ts';

const ROWS = ['one\n', '', `${'x'.repeat(40)}\n`, 'three\n'];
const BEFORE = [message('H', '\0\0\0'), message('d', ROWS[0] ?? ''), message('N', 'SNOTICE\0\0')];
const LATER = [message('S', 'a\0b\0'), ...ROWS.slice(1).map(row => message('d', row))];
const BEHIND = Buffer.concat([message('c', ''), message('C', 'COPY 4\0'), message('Z', 'I')]);
const SENT = Buffer.concat([...BEFORE, ...LATER, BEHIND]);

/** The received rows, and the messages that pg itself gets. */
function receive(pieces: readonly Buffer[], take?: () => void) {
  const stream = new PassThrough();
  const heard: Buffer[] = [];
  stream.on('data', piece => heard.push(piece));
  let rows = '';
  const copy = new RowsOut('COPY', piece => {
    take?.();
    rows += Buffer.from(piece).toString();
  });
  copy.submit({ stream, query: () => undefined } as unknown as Connection);
  for (const piece of pieces) stream.emit('data', piece);
  return { rows, heard: Buffer.concat(heard), copy, stream };
}

t.test('rows are complete with pieces of every size', t => {
  for (let size = 1; size <= SENT.length; size += 1) {
    const pieces = Array.from({ length: Math.ceil(SENT.length / size) }, (_, index) =>
      Buffer.from(SENT.subarray(index * size, (index + 1) * size)),
    );
    const { rows, heard } = receive(pieces);
    if (rows !== ROWS.join('') || !heard.equals(BEHIND)) t.fail(`pieces of ${size} bytes`);
  }
  t.same(receive([Buffer.from(SENT)]).rows, ROWS.join(''));
  t.end();
});

t.test('pg gets errors of the server, and an error of the receiver ends the connection', async t => {
  const failure = message('E', 'SERROR\0\0');
  t.strictSame(receive([Buffer.concat([...BEFORE, failure])]).heard, failure);
  const { copy, stream } = receive([Buffer.concat(BEFORE)], () => {
    throw new Error('enough');
  });
  await t.rejects(copy.ended, { message: 'enough' });
  t.ok(stream.destroyed);
});
