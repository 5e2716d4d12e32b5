// A memory of blocks of samples for charts, compressed as in the answer: charts with buckets of the same size have most
// blocks in common. A block is forgotten when a sample of its time is written or removed.
import type { SqliteDatabase } from '#core';
import type { TimedPoint } from '../codec/compact-item.ts';
import type { Piece } from '../codec/gzip-pieces.ts';

/** How many buckets a block has. */
export const BLOCK_BUCKETS = 16;
/** The greatest size of all blocks together: ten charts of the usual size. */
const MAX_BYTES = 12 * 1_024 * 1_024;
/** About the size of the numbers of an entry. */
const NUMBERS_BYTES = 1_000;

/** The last samples of sixteen buckets in a row, in order; `piece` has their JSON texts, separated by commas. */
export interface Block {
  readonly timestamps: readonly number[];
  readonly points: readonly (TimedPoint | undefined)[];
  /** Bytes of each text. */
  readonly lengths: readonly number[];
  readonly piece: Piece;
}

/** The time of a block in Unix seconds; `before` is exclusive. */
export interface BlockKey {
  readonly from: number;
  readonly before: number;
  readonly bucketSeconds: number;
}

/** The blocks that were used last are at the end of the map. */
interface Memory {
  readonly blocks: Map<string, { readonly key: BlockKey; readonly block: Block }>;
  bytes: number;
}

const memories = new WeakMap<SqliteDatabase, Memory>();

export function rememberedBlock(db: SqliteDatabase, key: BlockKey): Block | undefined {
  const blocks = memories.get(db)?.blocks;
  const known = blocks?.get(textOf(key));
  if (blocks === undefined || known === undefined) return undefined;
  blocks.delete(textOf(key));
  blocks.set(textOf(key), known);
  return known.block;
}

export function rememberBlock(db: SqliteDatabase, key: BlockKey, block: Block): void {
  const memory = memories.get(db) ?? { blocks: new Map(), bytes: 0 };
  memories.set(db, memory);
  memory.blocks.set(textOf(key), { key, block });
  memory.bytes += bytesOf(block);
  for (const [oldest, { block: forgotten }] of memory.blocks) {
    if (memory.bytes <= MAX_BYTES) return;
    memory.blocks.delete(oldest);
    memory.bytes -= bytesOf(forgotten);
  }
}

/** Called when a sample of this time, in Unix seconds, was written or removed. */
export function forgetBlocks(db: SqliteDatabase, timestamp: number): void {
  const memory = memories.get(db);
  if (memory === undefined) return;
  for (const [text, { key, block }] of memory.blocks) {
    if (timestamp < key.from || timestamp >= key.before) continue;
    memory.blocks.delete(text);
    memory.bytes -= bytesOf(block);
  }
}

function bytesOf({ piece, timestamps }: Block): number {
  return piece.bytes.length + timestamps.length * NUMBERS_BYTES;
}

function textOf({ from, bucketSeconds }: BlockKey): string {
  return `${bucketSeconds} ${from}`;
}
