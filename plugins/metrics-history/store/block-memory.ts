// Blocks of samples as charts show them, compressed as they are answered: charts of the same buckets show most of the
// same samples again. A block is forgotten when a sample of its time is written or removed.
import type { SqliteDatabase } from '#core';
import type { TimedPoint } from '../codec/compact-item.ts';
import type { Piece } from '../codec/gzip-pieces.ts';

/** How many buckets a block has. */
export const BLOCK_BUCKETS = 16;
/** Of all blocks together: ten charts of the usual size. */
const MAX_BYTES = 12 * 1_024 * 1_024;
/** Of the numbers of an entry, about. */
const NUMBERS_BYTES = 1_000;

/** The last sample of each bucket of a time, in order; as a piece their JSON texts, separated by commas. */
export interface Block {
  readonly timestamps: readonly number[];
  readonly points: readonly (TimedPoint | undefined)[];
  /** Bytes of each text. */
  readonly lengths: readonly number[];
  readonly piece: Piece;
}

/** Unix seconds; `before` does not belong to it. */
export interface BlockKey {
  readonly from: number;
  readonly before: number;
  readonly bucketSeconds: number;
}

/** Those that were used last are at the end. */
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

/** A sample of this time, in Unix seconds, was written or removed. */
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
