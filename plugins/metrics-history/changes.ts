// Samples as another store reads them: those that were written after a mark, and those of given times.
import { randomUUID } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import type { SqliteDatabase } from '#core';
import { prepared } from '#kit/prepared-statement';
import { pointOf } from './codec/compact-item.ts';
import { ZLIB } from './codec/sample-codec.ts';
import type { HistoryMark, KeptSample } from './contract.ts';
import { counter, metadata, setMetadata } from './store/metadata.ts';
import { pointAt } from './store/sample-points.ts';
import { itemText, ROW_COLUMNS, type Row, wholeText } from './store/samples.ts';

const MS_PER_S = 1_000;
const HOUR_S = 3_600;
const ID = 'history_id';

/** A change with its number; the sample is undefined when it is damaged. */
interface Change {
  readonly seq: number;
  readonly sample: KeptSample | undefined;
}

export function mark(db: SqliteDatabase): HistoryMark {
  const known = metadata(db, ID);
  const id = known ?? randomUUID();
  if (known === undefined) setMetadata(db, ID, id);
  return { id, seq: counter(db, 'seq') };
}

export function* changesAfter(
  db: SqliteDatabase,
  { seq, limit }: { readonly seq: number; readonly limit: number },
): Generator<Change> {
  const sql = `SELECT ${ROW_COLUMNS}, seq FROM metrics_snapshots WHERE seq > ? ORDER BY seq LIMIT ?`;
  for (const row of db.prepare(sql).iterate(seq, limit) as Iterable<Row & { readonly seq: number }>)
    yield { seq: row.seq, sample: keptSample(db, row) };
}

export function pendingAfter(db: SqliteDatabase, { seq }: { readonly seq: number }): number {
  return prepared(db, 'SELECT count(*) FROM metrics_snapshots WHERE seq > ?').pluck().get(seq) as number;
}

/** The time of the oldest sample written after a mark; null without any, undefined for the mark of another file. */
export function oldestAfter(db: SqliteDatabase, { id, seq }: HistoryMark): number | null | undefined {
  if (metadata(db, ID) !== id) return undefined;
  return prepared(db, 'SELECT min(timestamp) FROM metrics_snapshots WHERE seq > ?').pluck().get(seq) as number | null;
}

export function hoursSince(
  db: SqliteDatabase,
  { timestamp }: { readonly timestamp: number },
): (readonly [hour: number, samples: number])[] {
  const sql = `SELECT CAST(timestamp / ${HOUR_S} AS INTEGER) AS hour, count(*) FROM metrics_snapshots
     WHERE timestamp >= ? GROUP BY hour ORDER BY hour`;
  return prepared(db, sql)
    .raw()
    .all(Math.floor(timestamp / HOUR_S) * HOUR_S) as [number, number][];
}

export function timesOfHour(db: SqliteDatabase, { hour }: { readonly hour: number }): number[] {
  const sql = 'SELECT timestamp FROM metrics_snapshots WHERE timestamp >= ? AND timestamp < ? ORDER BY timestamp';
  return prepared(db, sql)
    .pluck()
    .all(hour * HOUR_S, (hour + 1) * HOUR_S) as number[];
}

export function* samplesAt(
  db: SqliteDatabase,
  { timestamps }: { readonly timestamps: readonly number[] },
): Generator<KeptSample | undefined> {
  const statement = prepared(db, `SELECT ${ROW_COLUMNS} FROM metrics_snapshots WHERE timestamp = ?`);
  for (const timestamp of timestamps) {
    const row = statement.get(timestamp) as Row | undefined;
    yield row && keptSample(db, row);
  }
}

/** Of these times, those that the file has no trace of; times up to the last removal for lack of space are left out. */
export function unknownTimes(db: SqliteDatabase, { timestamps }: { readonly timestamps: readonly number[] }): number[] {
  const removedUntilMs = counter(db, 'removed_until_ms');
  const point = prepared(db, 'SELECT 1 FROM metrics_points WHERE at_ms = ?');
  const sample = prepared(db, 'SELECT 1 FROM metrics_snapshots WHERE timestamp = ?');
  return timestamps.filter(timestamp => {
    const atMs = Math.round(timestamp * MS_PER_S);
    return atMs > removedUntilMs && point.get(atMs) === undefined && sample.get(timestamp) === undefined;
  });
}

function keptSample(db: SqliteDatabase, row: Row): KeptSample | undefined {
  const text = wholeText(db, row);
  const item = itemText(db, row);
  if (text === undefined || item === undefined) return undefined;
  return {
    timestamp: row.timestamp,
    payload: row.codec === ZLIB ? row.payload : deflateSync(text),
    item: deflateSync(item),
    rawBytes: text.length,
    point: pointAt(db, Math.round(row.timestamp * MS_PER_S)) ?? pointOf(JSON.parse(text.toString())),
  };
}
