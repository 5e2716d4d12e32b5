// Removes samples that are too old or too many, at most a thousand at a time. Samples beyond the age limit go first.
// When the samples take about a third of the size limit, those older than a day are thinned out to one a minute; when
// they exceed it nevertheless, the oldest are removed. Then come the rollups of hours that are over, and the blocks of
// the usual charts.
import type { SqliteDatabase } from '#core';
import { prepared } from '#kit/prepared-statement';
import { keepNextBlock } from './charts/usual-charts.ts';
import { forgetBlocks } from './store/block-memory.ts';
import { forgetKeptBlocks } from './store/kept-blocks.ts';
import { count, counter, setMetadata } from './store/metadata.ts';
import { forgetRollupsBefore, keepNextHour } from './store/rollups.ts';
import { removeNames } from './store/sample-points.ts';
import { removeDictionaries } from './store/samples.ts';

const CHUNK_ROWS = 1_000;
const MS_PER_S = 1_000;
const DAY_S = 86_400;
const FULL_RATE_S = DAY_S;
const THINNED_S = 60;
/**
 * The part of the size limit above which samples are thinned out. A week of 25 busy processes stays below it. Samples
 * of more processes then take less than 60 MB on the disk, including everything that belongs to them.
 */
const THINNING_SHARE = 0.35;
/** How many free pages are given back at a time. */
const VACUUM_PAGES = 2_000;

export interface Limits {
  /** Unix seconds. */
  readonly now: number;
  readonly maxAgeDays: number | null;
  readonly maxBytes: number | null;
}

/** Does one piece of the work. Returns whether there is more to do. */
export function maintain(db: SqliteDatabase, { now, maxAgeDays, maxBytes }: Limits): boolean {
  if (maxAgeDays !== null && removeBefore(db, now - maxAgeDays * DAY_S)) return true;
  if (maxBytes !== null) {
    const bytes = counter(db, 'compressed_bytes');
    if (bytes > maxBytes * THINNING_SHARE && thin(db, minuteOf(now - FULL_RATE_S) * THINNED_S)) return true;
    if (bytes > maxBytes && removeOldest(db)) return true;
  }
  if (keepNextHour(db) || keepNextBlock(db)) return true;
  removeDictionaries(db);
  removeNames(db);
  const free = freePages(db);
  db.pragma(`incremental_vacuum(${VACUUM_PAGES})`);
  // No progress means the file of an earlier program, which cannot give back pages.
  return freePages(db) > 0 && freePages(db) < free;
}

function freePages(db: SqliteDatabase): number {
  return Number(db.pragma('freelist_count', { simple: true }));
}

function removeBefore(db: SqliteDatabase, oldest: number): boolean {
  const rows = prepared(
    db,
    `SELECT timestamp, raw_size, stored_size FROM metrics_snapshots WHERE timestamp < ? ORDER BY timestamp LIMIT ${CHUNK_ROWS}`,
  ).all(oldest) as Removed[];
  remove(db, rows);
  const oldestMs = Math.floor(oldest * MS_PER_S);
  const points = prepared(
    db,
    `DELETE FROM metrics_points WHERE at_ms IN (SELECT at_ms FROM metrics_points WHERE at_ms < ? ORDER BY at_ms LIMIT ${CHUNK_ROWS})`,
  ).run(oldestMs);
  if (points.changes > 0) forgetRollupsBefore(db, oldestMs);
  return rows.length === CHUNK_ROWS || points.changes === CHUNK_ROWS;
}

/**
 * Thins out some samples before `until`. Returns whether there are more. `until` must be the end of a minute, because
 * otherwise each of its two parts would keep a sample.
 */
function thin(db: SqliteDatabase, until: number): boolean {
  const from = counter(db, 'thinned_until_ms') / MS_PER_S;
  const rows = prepared(
    db,
    `SELECT timestamp, raw_size, stored_size FROM metrics_snapshots WHERE timestamp >= ? AND timestamp < ? ORDER BY timestamp LIMIT ${CHUNK_ROWS}`,
  ).all(from, until) as Removed[];
  const last = rows.at(-1);
  if (last === undefined) return false;
  // The last sample of each minute stays. So does the last row, whose minute may go on in the next chunk.
  const removed = rows.filter(({ timestamp }, index) => {
    const next = rows[index + 1];
    return next !== undefined && minuteOf(next.timestamp) === minuteOf(timestamp);
  });
  remove(db, removed);
  count(db, 'thinned_samples', removed.length);
  const isWhole = rows.length < CHUNK_ROWS;
  const doneUntil = isWhole ? until : last.timestamp;
  setMetadata(db, 'thinned_until_ms', String(Math.floor(doneUntil * MS_PER_S)));
  return !isWhole;
}

function removeOldest(db: SqliteDatabase): boolean {
  const rows = prepared(
    db,
    `SELECT timestamp, raw_size, stored_size FROM metrics_snapshots ORDER BY timestamp LIMIT ${CHUNK_ROWS / 10}`,
  ).all() as Removed[];
  const last = rows.at(-1);
  if (last === undefined) return false;
  remove(db, rows);
  const lastMs = Math.round(last.timestamp * MS_PER_S);
  prepared(db, 'DELETE FROM metrics_points WHERE at_ms <= ?').run(lastMs);
  forgetRollupsBefore(db, lastMs + 1);
  setMetadata(db, 'removed_until_ms', String(Math.max(lastMs, counter(db, 'removed_until_ms'))));
  return true;
}

interface Removed {
  readonly timestamp: number;
  readonly raw_size: number;
  readonly stored_size: number;
}

function remove(db: SqliteDatabase, rows: readonly Removed[]): void {
  const statement = prepared(db, 'DELETE FROM metrics_snapshots WHERE timestamp = ?');
  for (const { timestamp } of rows) {
    statement.run(timestamp);
    forgetBlocks(db, timestamp);
    forgetKeptBlocks(db, timestamp);
  }
  count(db, 'samples', -rows.length);
  count(db, 'raw_bytes', -rows.reduce((sum, row) => sum + row.raw_size, 0));
  count(db, 'compressed_bytes', -rows.reduce((sum, row) => sum + row.stored_size, 0));
}

function minuteOf(timestamp: number): number {
  return Math.floor(timestamp / THINNED_S);
}
