// Rollups: the ranges of whole days, hours and spans of five minutes. They are kept once their time is over, so that
// the extremes of a week take no longer than those of an hour.
import type { SqliteDatabase } from '#core';
import { isObject } from '#kit/plain-object';
import { prepared } from '#kit/prepared-statement';
import { RangeCollector, type Ranges } from '../ranges.ts';
import { counter, setMetadata } from './metadata.ts';
import { pointBefore, pointsBetween } from './sample-points.ts';

const FIVE_MINUTES_MS = 300_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** The longest first; each is a multiple of the next. */
const SPANS_MS = [DAY_MS, HOUR_MS, FIVE_MINUTES_MS] as const;

/**
 * The ranges of all points from `fromMs`, inclusive, to `toMs`, exclusive; null without points. The rates of the first
 * point do not count, because they need the point before it.
 */
export function rangesBetween(db: SqliteDatabase, fromMs: number, toMs: number): Ranges | null {
  const firstMs = firstPointMs(db, fromMs);
  if (firstMs === null || firstMs >= toMs) return null;
  const collector = new RangeCollector();
  addRanges(db, collector, firstMs, toMs, 0, true);
  return collector.result();
}

/** Keeps the rollups of the oldest hour that is over and has none yet. Returns whether there may be more. */
export function keepNextHour(db: SqliteDatabase): boolean {
  const firstMs = firstPointMs(db, counter(db, 'ranges_until_ms'));
  if (firstMs === null) return false;
  const startMs = startOf(firstMs, HOUR_MS);
  const endMs = startMs + HOUR_MS;
  if (endMs > newestMs(db)) return false;
  addRanges(db, new RangeCollector(), startMs, endMs, 0, false);
  setMetadata(db, 'ranges_until_ms', String(endMs));
  return true;
}

/** Called when a point was written: removes its rollups, and those of the next point, whose rates depend on it. */
export function forgetRollups(db: SqliteDatabase, atMs: number): void {
  const next = prepared(db, 'SELECT at_ms FROM metrics_points WHERE at_ms > ? ORDER BY at_ms LIMIT 1')
    .pluck()
    .get(atMs);
  for (const spanMs of SPANS_MS)
    for (const changedMs of [atMs, ...(typeof next === 'number' ? [next] : [])])
      prepared(db, 'DELETE FROM metrics_rollups WHERE span_ms = ? AND start_ms = ?').run(
        spanMs,
        startOf(changedMs, spanMs),
      );
  if (atMs < counter(db, 'ranges_until_ms')) setMetadata(db, 'ranges_until_ms', String(startOf(atMs, HOUR_MS)));
}

/** Called when all points before a time were removed: removes their rollups, and the one that contains that time. */
export function forgetRollupsBefore(db: SqliteDatabase, oldestMs: number): void {
  for (const spanMs of SPANS_MS)
    prepared(db, 'DELETE FROM metrics_rollups WHERE span_ms = ? AND start_ms <= ?').run(
      spanMs,
      startOf(oldestMs, spanMs),
    );
}

function addRanges(
  db: SqliteDatabase,
  collector: RangeCollector,
  fromMs: number,
  toMs: number,
  level: number,
  isFirst: boolean,
): void {
  const spanMs = SPANS_MS[level];
  if (spanMs === undefined) {
    addPoints(db, collector, fromMs, toMs, isFirst);
    return;
  }
  const firstMs = Math.ceil((fromMs + (isFirst ? 1 : 0)) / spanMs) * spanMs;
  const endMs = startOf(toMs, spanMs);
  if (firstMs >= endMs) {
    addRanges(db, collector, fromMs, toMs, level + 1, isFirst);
    return;
  }
  if (fromMs < firstMs) addRanges(db, collector, fromMs, firstMs, level + 1, isFirst);
  for (const ranges of keptRanges(db, firstMs, endMs, level)) collector.addRanges(ranges);
  if (endMs < toMs) addRanges(db, collector, endMs, toMs, level + 1, false);
}

function* keptRanges(db: SqliteDatabase, fromMs: number, toMs: number, level: number): Generator<Ranges> {
  const spanMs = SPANS_MS[level] ?? FIVE_MINUTES_MS;
  const sql = 'SELECT start_ms, ranges FROM metrics_rollups WHERE span_ms = ? AND start_ms >= ? AND start_ms < ?';
  const rows = prepared(db, sql).all(spanMs, fromMs, toMs) as { start_ms: number; ranges: string }[];
  const known = new Map(rows.map(({ start_ms, ranges }) => [start_ms, ranges]));
  for (let startMs = fromMs; startMs < toMs; startMs += spanMs) {
    const text = known.get(startMs);
    if (text === undefined) {
      // A time without points is skipped at once, however long it is.
      const nextMs = firstPointMs(db, startMs);
      if (nextMs === null || nextMs >= toMs) return;
      startMs = startOf(nextMs, spanMs);
    }
    const kept = rangesIn(known.get(startMs));
    const ranges = kept === undefined ? made(db, startMs, level) : kept;
    if (ranges !== null) yield ranges;
  }
}

/** undefined for a damaged text, so that the ranges are made again. */
function rangesIn(text: string | undefined): Ranges | null | undefined {
  try {
    const ranges = JSON.parse(text ?? '') as Ranges | null;
    const members = [ranges?.curves, ranges?.filesystems, ranges?.network_interfaces];
    return ranges === null || members.every(isObject) ? ranges : undefined;
  } catch {
    return undefined;
  }
}

function made(db: SqliteDatabase, startMs: number, level: number): Ranges | null {
  const spanMs = SPANS_MS[level] ?? FIVE_MINUTES_MS;
  const collector = new RangeCollector();
  addRanges(db, collector, startMs, startMs + spanMs, level + 1, false);
  const ranges = collector.result();
  // A span that may still get points is not kept.
  if (startMs + spanMs <= newestMs(db)) keep(db, spanMs, startMs, ranges);
  return ranges;
}

function keep(db: SqliteDatabase, spanMs: number, startMs: number, ranges: Ranges | null): void {
  try {
    prepared(db, 'INSERT OR REPLACE INTO metrics_rollups VALUES (?, ?, ?)').run(
      spanMs,
      startMs,
      JSON.stringify(ranges),
    );
  } catch {
    // On a full disk the ranges are made again the next time. The writing of samples reports the full disk.
  }
}

function addPoints(
  db: SqliteDatabase,
  collector: RangeCollector,
  fromMs: number,
  toMs: number,
  isFirst: boolean,
): void {
  let before = isFirst ? undefined : pointBefore(db, fromMs);
  for (const point of pointsBetween(db, fromMs, toMs)) {
    collector.addPoint(point, before);
    before = point;
  }
}

/** The time of the first point at or after this moment; null without any. */
function firstPointMs(db: SqliteDatabase, atMs: number): number | null {
  return prepared(db, 'SELECT min(at_ms) FROM metrics_points WHERE at_ms >= ?').pluck().get(atMs) as number | null;
}

function newestMs(db: SqliteDatabase): number {
  return (prepared(db, 'SELECT max(at_ms) FROM metrics_points').pluck().get() as number | null) ?? 0;
}

function startOf(atMs: number, spanMs: number): number {
  return Math.floor(atMs / spanMs) * spanMs;
}
