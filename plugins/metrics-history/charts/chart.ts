// The data of a chart: the last sample of each bucket of time, curves through them, and the extremes of all samples.
import type { SqliteDatabase } from '#core';
import { prepared } from '#kit/prepared-statement';
import type { TimedPoint } from '../codec/compact-item.ts';
import { gzipOf, type Piece, pieceOf } from '../codec/gzip-pieces.ts';
import type { StoredItem } from '../contract.ts';
import { CURVES, type Curve, curveValues, interfaceRates, type Range, RangeCollector, type Ranges } from '../ranges.ts';
import type { Block } from '../store/block-memory.ts';
import { rangesBetween } from '../store/rollups.ts';
import { pointBefore } from '../store/sample-points.ts';
import { storedItem } from '../store/samples.ts';
import { bucketFor, bucketsFrom } from './buckets.ts';
import { blockOf, blocksOf, type Entry } from './chart-blocks.ts';

const MS_PER_S = 1_000;
/** How long a chart may be read; after that the answer has only what was read so far. */
const BUDGET_MS = 10_000;

export interface ChartRequest {
  /** Unix seconds; null for everything. */
  readonly since: number | null;
  readonly now: number;
  /** null to choose the size of a bucket automatically. */
  readonly bucketSeconds: number | null;
  readonly maxPoints: number;
}

type Numbers = (number | null)[];

/** A chart whose samples before a given time come from another store. */
export interface JoinedChartRequest {
  readonly from: number;
  readonly until: number;
  readonly bucketSeconds: number;
  readonly maxPoints: number;
  /** Unix seconds; infinite when the other store has all samples. */
  readonly before: number;
  /** The last sample of each bucket before `before`, from the other store. */
  readonly rows: readonly StoredItem[];
  readonly ranges: Ranges | null;
  /** Whether `ranges` covers all samples of the other store. */
  readonly isWhole: boolean;
}

/** An answer of `GET /metrics/history_series`, as JSON text compressed by gzip. */
export function chartText(
  db: SqliteDatabase,
  { since, now, bucketSeconds, maxPoints }: ChartRequest,
  budgetMs = BUDGET_MS,
): Uint8Array {
  const endsMs = performance.now() + budgetMs;
  const from = since ?? extreme(db, 'min');
  if (from === null) return textOf({ blocks: [], ranges: null, truncated: false, bucketSeconds: null });
  const until = since === null ? untilOf(now, from, extreme(db, 'max') ?? now) : now;
  const limits = { maxEntries: maxPoints, endsMs };
  let bucket = 0;
  let blocks: readonly Block[] | undefined;
  for (bucket of bucketsFrom(bucketFor({ from, until, bucketSeconds, maxPoints }))) {
    blocks = blocksOf(db, { from, until, bucketSeconds: bucket }, limits);
    if (blocks !== undefined) break;
  }
  const ranges = rangesBetween(db, Math.round(from * MS_PER_S), Math.round(until * MS_PER_S) + 1);
  const truncated = performance.now() > endsMs;
  return textOf({ blocks: blocks ?? [], ranges, truncated, bucketSeconds: bucket });
}

/** Like `chartText`; null when there are more entries than `maxPoints`: the caller then tries larger buckets. */
export function joinedChartText(db: SqliteDatabase, request: JoinedChartRequest): Uint8Array | null {
  const { from, until, bucketSeconds, maxPoints, before, rows, ranges, isWhole } = request;
  const endsMs = performance.now() + BUDGET_MS;
  const span = { from: Math.max(from, before), until, bucketSeconds };
  const own = blocksOf(db, span, { maxEntries: maxPoints, endsMs });
  if (own === undefined) return null;
  const bucketOf = (timestamp: number | undefined) => Math.floor((timestamp ?? Number.NaN) / bucketSeconds);
  const meets = bucketOf(rows.at(-1)?.timestamp) === bucketOf(own[0]?.timestamps[0]);
  const earlier = meets ? rows.slice(0, -1) : rows;
  if (earlier.length + own.reduce((sum, { timestamps }) => sum + timestamps.length, 0) > maxPoints) return null;
  const entries: Entry[] = [];
  for (const row of earlier) {
    if (performance.now() > endsMs) break;
    const entry = entryOf(row);
    if (entry !== undefined) entries.push(entry);
  }
  const collector = new RangeCollector();
  if (ranges !== null) collector.addRanges(ranges);
  const ownRanges = rangesBetween(db, firstOwnMs(db, from, before), Math.round(until * MS_PER_S) + 1);
  if (ownRanges !== null) collector.addRanges(ownRanges);
  const truncated = !isWhole || performance.now() > endsMs;
  const blocks = entries.length === 0 ? own : [blockOf(entries), ...own];
  return textOf({ blocks, ranges: collector.result(), truncated, bucketSeconds });
}

/** Where the ranges of the own file begin: at the last point before `before`, because the first rate needs it. */
function firstOwnMs(db: SqliteDatabase, from: number, before: number): number {
  const [fromMs, beforeMs] = [Math.round(from * MS_PER_S), Math.round(before * MS_PER_S)];
  return Math.max(fromMs, pointBefore(db, beforeMs)?.atMs ?? beforeMs);
}

function entryOf(stored: StoredItem): Entry | undefined {
  const { timestamp } = stored;
  const item = storedItem(stored);
  return item && { timestamp, text: item.text, point: { ...item.point, atMs: Math.round(timestamp * MS_PER_S) } };
}

/** The end of a chart of everything. Samples of the future, taken while the clock was ahead, must not stretch it. */
export function untilOf(now: number, oldest: number, newest: number): number {
  return Math.max(oldest, Math.min(newest, now));
}

function extreme(db: SqliteDatabase, which: 'min' | 'max'): number | null {
  return prepared(db, `SELECT ${which}(timestamp) FROM metrics_snapshots`).pluck().get() as number | null;
}

function textOf(chart: {
  readonly blocks: readonly Block[];
  readonly ranges: Ranges | null;
  readonly truncated: boolean;
  readonly bucketSeconds: number | null;
}): Uint8Array {
  const { blocks, ranges, truncated, bucketSeconds } = chart;
  const members = {
    timestamps: blocks.flatMap(({ timestamps }) => timestamps),
    series: seriesOf(blocks.flatMap(({ points }) => points)),
    stats: ranges === null ? null : statsOf(ranges),
    truncated,
    bucket_seconds: bucketSeconds,
  };
  return gzipOf([
    BEGIN,
    ...blocks.flatMap(({ piece }, index): Piece[] => (index === 0 ? [piece] : [COMMA, piece])),
    pieceOf(Buffer.from(`],${JSON.stringify(members).slice(1)}`)),
  ]);
}

const BEGIN = pieceOf(Buffer.from('{"items":['));
const COMMA = pieceOf(Buffer.from(','));

function seriesOf(points: readonly (TimedPoint | undefined)[]) {
  const curves = Object.fromEntries(CURVES.map((curve): [Curve, Numbers] => [curve, []])) as Record<Curve, Numbers>;
  const filesystems = listsOf(
    points,
    point => point.fileSystems.keys(),
    () => ({ disk: [], inode: [] }),
  );
  const interfaces = listsOf(
    points,
    point => point.interfaces.keys(),
    () => ({ sent_rate: [], recv_rate: [] }),
  );
  for (const [index, point] of points.entries()) {
    const before = points[index - 1];
    const values = point === undefined ? undefined : curveValues(point, before);
    for (const curve of CURVES) curves[curve].push(values?.[curve] ?? null);
    for (const [name, lists] of filesystems) {
      const [space, inodes] = point?.fileSystems.get(name) ?? [null, null];
      lists.disk.push(space);
      lists.inode.push(inodes);
    }
    for (const [name, lists] of interfaces) {
      const [sent, received] = point === undefined ? [null, null] : interfaceRates(name, point, before);
      lists.sent_rate.push(sent);
      lists.recv_rate.push(received);
    }
  }
  return {
    ...curves,
    filesystems: Object.fromEntries(filesystems),
    network_interfaces: Object.fromEntries(interfaces),
  };
}

function listsOf<Key extends string>(
  points: readonly (TimedPoint | undefined)[],
  names: (point: TimedPoint) => Iterable<string>,
  make: () => Record<Key, Numbers>,
): Map<string, Record<Key, Numbers>> {
  const all = new Set(points.flatMap(point => (point === undefined ? [] : [...names(point)])));
  return new Map([...all].map(name => [name, make()]));
}

/** Every curve has a member, which is null without a value. */
function statsOf({ curves, filesystems, network_interfaces }: Ranges) {
  const all = Object.fromEntries(CURVES.map((curve): [Curve, Range | null] => [curve, curves[curve] ?? null]));
  return { ...all, filesystems, network_interfaces };
}
