// Counters and other values about the whole history, kept in a table so that rows need not be counted.
import type { SqliteDatabase } from '#core';
import { prepared } from '#kit/prepared-statement';

export type Counter =
  | 'samples'
  | 'raw_bytes'
  | 'compressed_bytes'
  /** Samples that were removed to save space while their numbers stay. */
  | 'thinned_samples'
  /** Samples of an earlier program whose numbers are not in the tables yet. */
  | 'unread_samples'
  /** Grows with each written sample. */
  | 'seq'
  /** Unix milliseconds up to which samples were removed for lack of space. */
  | 'removed_until_ms'
  /** Unix milliseconds up to which samples are thinned out. */
  | 'thinned_until_ms'
  /** Unix milliseconds up to which the rollups of hours are made. */
  | 'ranges_until_ms';

export function counter(db: SqliteDatabase, key: Counter): number {
  return Number(metadata(db, key) ?? 0);
}

export function count(db: SqliteDatabase, key: Counter, by: number): void {
  if (by !== 0) setMetadata(db, key, String(counter(db, key) + by));
}

export function metadata(db: SqliteDatabase, key: string): string | undefined {
  return prepared(db, 'SELECT value FROM metrics_metadata WHERE key = ?').pluck().get(key) as string | undefined;
}

export function setMetadata(db: SqliteDatabase, key: string, value: string): void {
  prepared(db, 'INSERT INTO metrics_metadata VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value').run(
    key,
    value,
  );
}
