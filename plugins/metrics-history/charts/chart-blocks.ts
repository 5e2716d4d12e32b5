// The samples that charts show, the last of each bucket of time, in blocks of sixteen buckets. Blocks whose time is
// over are remembered.
import type { SqliteDatabase } from '#core';
import { prepared } from '#kit/prepared-statement';
import type { TimedPoint } from '../codec/compact-item.ts';
import { BEST, FAST, pieceOf, textOfPiece } from '../codec/gzip-pieces.ts';
import { BLOCK_BUCKETS, type Block, type BlockKey, rememberBlock, rememberedBlock } from '../store/block-memory.ts';
import { keptBlock } from '../store/kept-blocks.ts';
import { pointAt } from '../store/sample-points.ts';
import { itemText, ROW_COLUMNS, type Row } from '../store/samples.ts';
import { justBefore } from './buckets.ts';

const MS_PER_S = 1_000;
const COMMA = Buffer.from(',');
/** How many samples of a bucket are tried; when all of these are damaged, the others mostly are too. */
const MAX_TRIES = 16;

export interface Entry {
  readonly timestamp: number;
  readonly text: Buffer;
  readonly point: TimedPoint | undefined;
}

export interface BlockSpan {
  /** Unix seconds; both ends are inclusive. */
  readonly from: number;
  readonly until: number;
  readonly bucketSeconds: number;
}

/**
 * The blocks of a span, none of them empty; undefined when they have more than `maxEntries` entries together. Blocks
 * that are not ready by `endsMs` of the performance clock are left out.
 */
export function blocksOf(
  db: SqliteDatabase,
  { from, until, bucketSeconds }: BlockSpan,
  { maxEntries, endsMs }: { readonly maxEntries: number; readonly endsMs: number },
): Block[] | undefined {
  const spanSeconds = bucketSeconds * BLOCK_BUCKETS;
  const found: { readonly timestamps: readonly number[]; make(): Block | undefined }[] = [];
  let entries = 0;
  for (let end = until; end >= from; ) {
    const last = lastBetween(db, from, end);
    if (last === null) break;
    const start = Math.floor(last / spanSeconds) * spanSeconds;
    const before = start + spanSeconds;
    const key = { from: start, before, bucketSeconds };
    const known = rememberedBlock(db, key) ?? remembered(db, key, keptBlock(db, key));
    // A block that may still grow is not remembered.
    const isOver = before <= until;
    const whole = isOver ? { from: start, until: justBefore(before) } : { from: Math.max(from, start), until };
    const timestamps = known?.timestamps ?? lastOfBuckets(db, { ...whole, bucketSeconds });
    entries += timestamps.filter(timestamp => timestamp >= from).length;
    if (entries > maxEntries) return undefined;
    found.push({
      timestamps,
      make() {
        if (known !== undefined) return cut(known, from);
        const block = madeBlock(db, timestamps, { from: whole.from, bucketSeconds, endsMs });
        if (block === undefined) return undefined;
        return cut(isOver ? remembered(db, key, block) : block, from);
      },
    });
    end = justBefore(start);
  }
  return found
    .reverse()
    .flatMap(({ make }) => make() ?? [])
    .filter(({ timestamps }) => timestamps.length > 0);
}

/** A block whose time is over, compressed well because it is kept in the file. */
export function wholeBlock(db: SqliteDatabase, { from, before, bucketSeconds }: BlockKey): Block {
  const timestamps = lastOfBuckets(db, { from, until: justBefore(before), bucketSeconds });
  return blockOf(entriesAt(db, timestamps, { from, bucketSeconds, endsMs: Number.POSITIVE_INFINITY }) ?? [], BEST);
}

/** Makes a block of entries. */
export function blockOf(entries: readonly Entry[], level = FAST): Block {
  return {
    timestamps: entries.map(({ timestamp }) => timestamp),
    points: entries.map(({ point }) => point),
    lengths: entries.map(({ text }) => text.length),
    piece: pieceOf(Buffer.concat(entries.flatMap(({ text }, index) => (index === 0 ? [text] : [COMMA, text]))), level),
  };
}

function remembered<Found extends Block | undefined>(db: SqliteDatabase, key: BlockKey, block: Found): Found {
  if (block !== undefined) rememberBlock(db, key, block);
  return block;
}

interface Reading extends Pick<BlockSpan, 'from' | 'bucketSeconds'> {
  readonly endsMs: number;
}

function madeBlock(db: SqliteDatabase, timestamps: readonly number[], reading: Reading): Block | undefined {
  const entries = entriesAt(db, timestamps, reading);
  return entries && blockOf(entries);
}

/**
 * The entries of buckets whose last samples have these times; undefined when not all are read by `endsMs` of the
 * performance clock.
 */
function entriesAt(db: SqliteDatabase, timestamps: readonly number[], reading: Reading): Entry[] | undefined {
  const entries: Entry[] = [];
  for (const timestamp of timestamps) {
    if (performance.now() > reading.endsMs) return undefined;
    const entry = entryOfBucket(db, timestamp, reading);
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

/** The last sample of a bucket that can be read, given the time of the last one. */
function entryOfBucket(db: SqliteDatabase, last: number, { from, bucketSeconds }: Reading): Entry | undefined {
  const start = Math.max(from, Math.floor(last / bucketSeconds) * bucketSeconds);
  let at: number | null = last;
  for (let tries = 0; at !== null && tries < MAX_TRIES; tries += 1) {
    const entry = entryAt(db, at);
    if (entry !== undefined) return entry;
    at = lastBetween(db, start, justBefore(at));
  }
  return undefined;
}

/** The block without the entries before a time. */
function cut(block: Block, from: number): Block {
  const first = block.timestamps.findIndex(timestamp => timestamp >= from);
  if (first === 0) return block;
  if (first === -1) return blockOf([]);
  const skipped = block.lengths.slice(0, first).reduce((sum, length) => sum + length + COMMA.length, 0);
  return {
    timestamps: block.timestamps.slice(first),
    points: block.points.slice(first),
    lengths: block.lengths.slice(first),
    piece: pieceOf(textOfPiece(block.piece).subarray(skipped)),
  };
}

function entryAt(db: SqliteDatabase, timestamp: number): Entry | undefined {
  const sql = `SELECT ${ROW_COLUMNS} FROM metrics_snapshots WHERE timestamp = ?`;
  const row = prepared(db, sql).get(timestamp) as Row | undefined;
  const text = row && itemText(db, row);
  return text && { timestamp, text, point: pointAt(db, Math.round(timestamp * MS_PER_S)) };
}

/** The times of the last samples of each bucket, in order. It takes one query for each bucket that has a sample. */
export function lastOfBuckets(db: SqliteDatabase, { from, until, bucketSeconds }: BlockSpan): number[] {
  const timestamps: number[] = [];
  for (let end = until; end >= from; ) {
    const found = lastBetween(db, from, end);
    if (found === null) break;
    timestamps.push(found);
    end = justBefore(Math.floor(found / bucketSeconds) * bucketSeconds);
  }
  return timestamps.reverse();
}

function lastBetween(db: SqliteDatabase, from: number, until: number): number | null {
  const sql = 'SELECT max(timestamp) FROM metrics_snapshots WHERE timestamp >= ? AND timestamp <= ?';
  return prepared(db, sql).pluck().get(from, until) as number | null;
}
