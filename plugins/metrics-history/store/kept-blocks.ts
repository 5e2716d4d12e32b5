// Blocks of samples for charts that are kept in the file, so that a usual chart is fast from the first request on. A
// block is removed when a sample of its time is written or removed.
import { crc32 } from 'node:zlib';
import type { SqliteDatabase } from '#core';
import { prepared } from '#kit/prepared-statement';
import type { Pair, TimedPoint } from '../codec/compact-item.ts';
import { BLOCK_BUCKETS, type Block, type BlockKey } from './block-memory.ts';

interface Row {
  readonly head: string;
  readonly piece: Buffer;
  readonly checksum: number;
}

/** The members of a block other than the compressed texts. */
interface Head {
  readonly timestamps: Block['timestamps'];
  readonly lengths: Block['lengths'];
  readonly points: readonly (KeptPoint | null)[];
  readonly length: number;
  readonly crc: number;
}

type KeptPoint = readonly [
  at: number,
  numbers: readonly (number | null)[],
  fileSystems: readonly (readonly [string, Pair])[],
  interfaces: readonly (readonly [string, Pair])[],
];

/** undefined when the block is not kept, or is damaged. */
export function keptBlock(db: SqliteDatabase, { before, bucketSeconds }: BlockKey): Block | undefined {
  const sql = 'SELECT head, piece, checksum FROM metrics_blocks WHERE before_s = ? AND bucket_s = ?';
  const row = prepared(db, sql).get(before, bucketSeconds) as Row | undefined;
  // A damaged piece would spoil the whole answer.
  if (row === undefined || crc32(row.piece, crc32(row.head)) !== row.checksum) return undefined;
  const { timestamps, lengths, points, length, crc } = JSON.parse(row.head) as Head;
  return {
    timestamps,
    lengths,
    points: points.map(point => (point === null ? undefined : pointOf(point))),
    piece: { bytes: row.piece, length, crc },
  };
}

export function keepBlock(db: SqliteDatabase, { before, bucketSeconds }: BlockKey, block: Block): void {
  const { timestamps, lengths, points, piece } = block;
  const { length, crc } = piece;
  const head: Head = {
    timestamps,
    lengths,
    points: points.map(point => (point === undefined ? null : keptPoint(point))),
    length,
    crc,
  };
  const text = JSON.stringify(head);
  prepared(db, 'INSERT OR REPLACE INTO metrics_blocks VALUES (?, ?, ?, ?, ?)').run(
    before,
    bucketSeconds,
    text,
    piece.bytes,
    crc32(piece.bytes, crc32(text)),
  );
}

/** Called when a sample of this time, in Unix seconds, was written or removed. */
export function forgetKeptBlocks(db: SqliteDatabase, timestamp: number): void {
  const sql = `DELETE FROM metrics_blocks WHERE before_s > ? AND before_s - ${BLOCK_BUCKETS} * bucket_s <= ?`;
  prepared(db, sql).run(timestamp, timestamp);
}

/** The ends of the kept blocks with buckets of this size, in Unix seconds. */
export function keptEnds(db: SqliteDatabase, bucketSeconds: number): ReadonlySet<number> {
  const sql = 'SELECT before_s FROM metrics_blocks WHERE bucket_s = ?';
  return new Set(prepared(db, sql).pluck().all(bucketSeconds) as number[]);
}

/** Removes the blocks that end by this time and whose buckets have this size, or a second less or more. */
export function removeKeptBlocks(db: SqliteDatabase, bucketSeconds: number, until: number): void {
  const sql = 'DELETE FROM metrics_blocks WHERE bucket_s BETWEEN ? AND ? AND before_s <= ?';
  prepared(db, sql).run(bucketSeconds - 1, bucketSeconds + 1, until);
}

function keptPoint(point: TimedPoint): KeptPoint {
  const { atMs, cpu, mem, disk, inode, diskRead, diskWritten, netSent, netReceived } = point;
  const numbers = [cpu, mem, disk, inode, diskRead, diskWritten, netSent, netReceived];
  return [atMs, numbers, [...point.fileSystems], [...point.interfaces]];
}

function pointOf([atMs, numbers, fileSystems, interfaces]: KeptPoint): TimedPoint {
  const [cpu = null, mem = null, disk = null, inode = null] = numbers;
  const [, , , , diskRead = null, diskWritten = null, netSent = null, netReceived = null] = numbers;
  return {
    ...{ atMs, cpu, mem, disk, inode, diskRead, diskWritten, netSent, netReceived },
    fileSystems: new Map(fileSystems),
    interfaces: new Map(interfaces),
  };
}
