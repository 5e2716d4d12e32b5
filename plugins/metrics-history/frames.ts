// Answers that are made of pieces: lists of samples, and the first frame of a new client of the stream.
import { promisify } from 'node:util';
import { constants, gunzip, inflateRaw } from 'node:zlib';
import type { z } from 'zod';
import { gzipFile, pieceOf } from './codec/gzip-pieces.ts';
import type { History } from './history.ts';
import { type chartQuery, chartWindow, samplesWindow } from './wire.ts';

/** How many compressed bytes of samples a first frame has at most; the oldest samples are left out. */
const MAX_FRAME_BYTES = 32 * 1_024 * 1_024;

const unpacked = promisify(gunzip);
const textOf = promisify(inflateRaw);
const SYNC = { finishFlush: constants.Z_SYNC_FLUSH };
const BEGIN = pieceOf(Buffer.from('{"items":['));
const COMMA = pieceOf(Buffer.from(','));

/** An answer of `GET /metrics/history`, as JSON text compressed by gzip. */
export async function sampleFile(
  history: History,
  { since, limit }: ReturnType<typeof samplesWindow>,
): Promise<AsyncIterable<Uint8Array>> {
  const { pieces, truncated } = await history.samples(since, limit);
  return gzipFile(
    (async function* () {
      let before = BEGIN;
      for await (const piece of pieces) {
        yield before;
        yield piece;
        before = COMMA;
      }
      if (before === BEGIN) yield BEGIN;
      yield pieceOf(Buffer.from(`],"truncated":${truncated}}`));
    })(),
  );
}

export async function introduce(
  history: History,
  kind: 'bootstrap' | 'history',
  query: z.output<typeof chartQuery>,
): Promise<string> {
  if (kind === 'bootstrap') return members(await unpacked(await history.chart(chartWindow(query))));
  const { since, limit: wanted } = samplesWindow(query);
  // The limit is halved until the samples fit.
  for (let limit = wanted; ; limit = Math.floor(limit / 2)) {
    const { pieces, truncated } = await history.samples(since, limit);
    const texts: Buffer[] = [];
    let bytes = 0;
    for await (const piece of pieces) {
      bytes += piece.length;
      if (bytes > MAX_FRAME_BYTES) break;
      texts.push(await textOf(piece.bytes, SYNC));
    }
    if (bytes <= MAX_FRAME_BYTES || limit <= 1) return `"items":[${texts.join()}],"truncated":${truncated}`;
  }
}

/** The JSON text of an object without its braces. */
function members(text: Uint8Array): string {
  return Buffer.from(text).toString('utf8', 1, text.length - 1);
}
