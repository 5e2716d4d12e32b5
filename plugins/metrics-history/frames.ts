// Answers that are made of pieces: samples one after the other, and what a new client of the stream gets of the past.
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { z } from 'zod';
import type { History } from './history.ts';
import { type chartQuery, chartWindow, samplesWindow } from './wire.ts';

/** A first frame with samples holds no more; the oldest are left out. */
const MAX_FRAME_BYTES = 32 * 1_024 * 1_024;

const unpacked = promisify(gunzip);

/** The JSON text of an answer of `GET /metrics/history`. */
export async function sampleText(
  history: History,
  { since, limit }: ReturnType<typeof samplesWindow>,
): Promise<AsyncIterable<Uint8Array | string>> {
  const { pieces, truncated } = await history.samples(since, limit);
  return (async function* () {
    yield '{"items":[';
    yield* pieces;
    yield `],"truncated":${truncated}}`;
  })();
}

export async function introduce(
  history: History,
  kind: 'bootstrap' | 'history',
  query: z.output<typeof chartQuery>,
): Promise<string> {
  if (kind === 'bootstrap') return members(await unpacked(await history.chart(chartWindow(query))));
  const { since, limit: wanted } = samplesWindow(query);
  // Half of the samples are left out until the rest fits.
  for (let limit = wanted; ; limit = Math.floor(limit / 2)) {
    const { pieces, truncated } = await history.samples(since, limit);
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of pieces) {
      bytes += piece.length;
      if (bytes > MAX_FRAME_BYTES) break;
      parts.push(piece);
    }
    if (bytes <= MAX_FRAME_BYTES || limit <= 1)
      return `"items":[${Buffer.concat(parts).toString()}],"truncated":${truncated}`;
  }
}

/** Without the braces of the object. */
function members(text: Uint8Array): string {
  return Buffer.from(text).toString('utf8', 1, text.length - 1);
}
