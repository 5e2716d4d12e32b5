// The charts that are requested most: each of their blocks is made as soon as its time is over, and kept in the file.
import type { SqliteDatabase } from '#core';
import { prepared } from '#kit/prepared-statement';
import { BLOCK_BUCKETS, type BlockKey } from '../store/block-memory.ts';
import { keepBlock, keptEnds, removeKeptBlocks } from '../store/kept-blocks.ts';
import { counter } from '../store/metadata.ts';
import { bucketFor } from './buckets.ts';
import { chartText } from './chart.ts';
import { lastOfBuckets, wholeBlock } from './chart-blocks.ts';

const HOUR_S = 3_600;
/** The windows that a frontend offers, and a week. */
const WINDOWS_S = [1, 6, 12, 24, 72, 168].map(hours => hours * HOUR_S);
/** The window that a frontend shows first. */
const FIRST_WINDOW_S = 6 * HOUR_S;
const MAX_POINTS = 600;
/** How much earlier the window of a chart may begin for which blocks are kept. */
const SLACK_S = 300;
/** The usual time between samples: the ends of a window may lack a sample when buckets are hardly longer than this. */
const SAMPLES_S = 5;
/** How long the rehearsal may hold the thread of the database, for which other requests wait. */
const REHEARSAL_MS = 250;

/** When the next block is over, in Unix seconds: a sample of this time or later completes it. */
const dueAt = new WeakMap<SqliteDatabase, number>();

interface UsualChart {
  readonly windowS: number;
  readonly bucketSeconds: number;
}

interface UsualCharts {
  readonly newest: number;
  readonly samples: number;
  readonly charts: readonly UsualChart[];
}

const chartsAt = new WeakMap<SqliteDatabase, UsualCharts>();

/** Called after a write: keeps the block that the newest sample completes. Blocks that late samples change wait. */
export function keepDueBlock(db: SqliteDatabase, newest: number): void {
  if (newest >= (dueAt.get(db) ?? Number.NEGATIVE_INFINITY)) keepNextBlock(db);
}

/** Makes the chart that a frontend shows first, so that its code is warm and its blocks are remembered. */
export function rehearse(db: SqliteDatabase, now: number): void {
  chartText(db, { since: now - FIRST_WINDOW_S, now, bucketSeconds: null, maxPoints: MAX_POINTS }, REHEARSAL_MS);
}

/** Keeps the next block of the usual charts that is over and not kept yet. Returns whether there may be more. */
export function keepNextBlock(db: SqliteDatabase): boolean {
  const newest = prepared(db, 'SELECT max(timestamp) FROM metrics_snapshots').pluck().get() as number | null;
  if (newest === null) return false;
  let nextEnd = Number.POSITIVE_INFINITY;
  for (const { windowS, bucketSeconds } of usualCharts(db, newest)) {
    const spanS = bucketSeconds * BLOCK_BUCKETS;
    const from = Math.floor((newest - windowS - SLACK_S) / spanS) * spanS;
    const ends = keptEnds(db, bucketSeconds);
    let start = from;
    for (; start + spanS <= newest; start += spanS) {
      if (ends.has(start + spanS)) continue;
      const first = firstFrom(db, start);
      if (first === null || first >= start + spanS) {
        // A time without samples is skipped at once, however long it is.
        start = Math.floor((first ?? newest) / spanS) * spanS - spanS;
        continue;
      }
      const key = { from: start, before: start + spanS, bucketSeconds };
      return isKept(db, key, from);
    }
    nextEnd = Math.min(nextEnd, start + spanS);
  }
  dueAt.set(db, nextEnd);
  return false;
}

/** The usual charts; computed again only when samples were written or removed. */
function usualCharts(db: SqliteDatabase, newest: number): readonly UsualChart[] {
  const known = chartsAt.get(db);
  const samples = counter(db, 'samples');
  if (known?.newest === newest && known.samples === samples) return known.charts;
  const charts = WINDOWS_S.flatMap(windowS =>
    usualBuckets(db, newest - windowS, newest).map(bucketSeconds => ({ windowS, bucketSeconds })),
  );
  chartsAt.set(db, { newest, samples, charts });
  return charts;
}

/**
 * The sizes of buckets that a chart of this window can have, in seconds, in order. There may be several: the number of
 * its entries varies by one with where the window begins and ends within a bucket.
 */
function usualBuckets(db: SqliteDatabase, from: number, until: number): number[] {
  const usual: number[] = [];
  let bucketSeconds = bucketFor({ from, until, bucketSeconds: null, maxPoints: MAX_POINTS });
  for (;;) {
    const first = Math.floor(from / bucketSeconds);
    const last = Math.floor(until / bucketSeconds);
    const entries = lastOfBuckets(db, { from: first * bucketSeconds, until, bucketSeconds }).length;
    const empty = last - first + 1 - entries;
    const buckets = (until - from) / bucketSeconds;
    const mayLackEnds = bucketSeconds < 2 * SAMPLES_S;
    if (Math.floor(buckets) + (mayLackEnds ? -1 : 1) - empty <= MAX_POINTS) usual.push(bucketSeconds);
    if (Math.ceil(buckets) + 1 - empty <= MAX_POINTS) return usual;
    bucketSeconds += 1;
  }
}

function isKept(db: SqliteDatabase, key: BlockKey, from: number): boolean {
  try {
    removeKeptBlocks(db, key.bucketSeconds, from);
    keepBlock(db, key, wholeBlock(db, key));
    return true;
  } catch {
    // On a full disk the block is made again for each chart. The writing of samples reports the full disk.
    return false;
  }
}

function firstFrom(db: SqliteDatabase, from: number): number | null {
  return prepared(db, 'SELECT min(timestamp) FROM metrics_snapshots WHERE timestamp >= ?').pluck().get(from) as
    | number
    | null;
}
