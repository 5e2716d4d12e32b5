// A gzip file that is made as its pieces arrive.
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { gzipFile, type Piece, pieceOf } from '../../../plugins/metrics-history/codec/gzip-pieces.ts';

/** At least 2 kB, even when it is compressed. */
function noise(seed: number): string {
  return Array.from({ length: 64 }, (_, line) => createHash('sha256').update(`${seed} ${line}`).digest('hex')).join();
}

async function* inOrder(pieces: readonly Piece[]): AsyncGenerator<Piece> {
  yield* pieces;
}

t.test('small pieces are sent together, large ones alone', async t => {
  const small = ['{"items":[', ','].map(text => pieceOf(Buffer.from(text)));
  const large = [1, 2].map(seed => pieceOf(Buffer.from(noise(seed))));
  const pieces = [...small, ...large, ...small];
  const chunks: Buffer[] = [];
  for await (const chunk of gzipFile(inOrder(pieces))) chunks.push(chunk);
  t.equal(chunks.length, 4);
  t.equal(chunks[1], large[0]?.bytes, 'not a copy');
  t.equal(chunks[2], large[1]?.bytes, 'not a copy');
  t.equal(gunzipSync(Buffer.concat(chunks)).toString(), `{"items":[,${noise(1)}${noise(2)}{"items":[,`);
});

t.test('a file may have only small pieces, or none', async t => {
  for (const texts of [['a', 'b'], []]) {
    const chunks: Buffer[] = [];
    for await (const chunk of gzipFile(inOrder(texts.map(text => pieceOf(Buffer.from(text)))))) chunks.push(chunk);
    t.equal(chunks.length, 1);
    t.equal(gunzipSync(Buffer.concat(chunks)).toString(), texts.join(''));
  }
});
