// The data of a chart: the last sample of each bucket of time, curves through them, and the extremes of all samples.
import type { SqliteDatabase } from '#core';
import { bucketFor, justBefore } from './buckets.ts';
import type { StoredPayload } from './contract.ts';
import { prepared } from './prepared.ts';
import { CURVES, type Curve, curveValues, interfaceRates, type Range, RangeCollector, type Ranges } from './ranges.ts';
import { rangesBetween } from './rollups.ts';
import { pointAt, pointBefore, type TimedPoint } from './sample-points.ts';
import { itemText, payloadItem, ROW_COLUMNS, type Row } from './samples.ts';

const MS_PER_S = 1_000;
/** Then what was read so far is answered. */
const BUDGET_MS = 10_000;

export interface ChartRequest {
  /** Unix seconds; null for everything. */
  readonly since: number | null;
  readonly now: number;
  /** null for automatic. */
  readonly bucketSeconds: number | null;
  readonly maxPoints: number;
}

interface Entry {
  readonly timestamp: number;
  readonly text: Buffer;
  readonly point: TimedPoint | undefined;
}

type Numbers = (number | null)[];

/** A chart whose samples before a time come from another store. */
export interface JoinedChartRequest {
  readonly from: number;
  readonly until: number;
  readonly bucketSeconds: number;
  readonly maxPoints: number;
  /** Unix seconds; infinite when the other store has all samples. */
  readonly before: number;
  /** The last sample of each bucket before that time. */
  readonly rows: readonly StoredPayload[];
  readonly ranges: Ranges | null;
  /** Whether the extremes are those of all of its samples. */
  readonly isWhole: boolean;
}

/** The JSON text of an answer of `GET /metrics/history_series`. */
export function chartText(db: SqliteDatabase, { since, now, bucketSeconds, maxPoints }: ChartRequest): Uint8Array {
  const endsMs = performance.now() + BUDGET_MS;
  const from = since ?? (extreme(db, 'min') as number | null);
  const until = since === null ? (extreme(db, 'max') ?? now) : now;
  if (from === null) return textOf({ entries: [], ranges: null, truncated: false, bucketSeconds: null });
  let bucket = bucketFor({ from, until, bucketSeconds, maxPoints });
  let timestamps = lastOfBuckets(db, from, until, bucket);
  while (timestamps.length > maxPoints) {
    bucket += 1;
    timestamps = lastOfBuckets(db, from, until, bucket);
  }
  const entries: Entry[] = [];
  for (const timestamp of timestamps) {
    if (performance.now() > endsMs) break;
    const entry = entryAt(db, timestamp);
    if (entry !== undefined) entries.push(entry);
  }
  const ranges = rangesBetween(db, Math.round(from * MS_PER_S), Math.round(until * MS_PER_S) + 1);
  const truncated = performance.now() > endsMs;
  return textOf({ entries, ranges, truncated, bucketSeconds: bucket });
}

/** null when there are more entries than fit, so that it is asked for again with larger buckets. */
export function joinedChartText(db: SqliteDatabase, request: JoinedChartRequest): Uint8Array | null {
  const { from, until, bucketSeconds, maxPoints, before, rows, ranges, isWhole } = request;
  const endsMs = performance.now() + BUDGET_MS;
  const own = lastOfBuckets(db, Math.max(from, before), until, bucketSeconds);
  const bucketOf = (timestamp: number | undefined) => Math.floor((timestamp ?? Number.NaN) / bucketSeconds);
  const meets = bucketOf(rows.at(-1)?.timestamp) === bucketOf(own[0]);
  const earlier = meets ? rows.slice(0, -1) : rows;
  if (earlier.length + own.length > maxPoints) return null;
  const entries: Entry[] = [];
  const addAll = <Source>(sources: readonly Source[], read: (source: Source) => Entry | undefined): void => {
    for (const source of sources) {
      if (performance.now() > endsMs) return;
      const entry = read(source);
      if (entry !== undefined) entries.push(entry);
    }
  };
  addAll(earlier, entryOf);
  addAll(own, timestamp => entryAt(db, timestamp));
  const collector = new RangeCollector();
  if (ranges !== null) collector.addRanges(ranges);
  const ownRanges = rangesBetween(db, firstOwnMs(db, from, before), Math.round(until * MS_PER_S) + 1);
  if (ownRanges !== null) collector.addRanges(ownRanges);
  const truncated = !isWhole || performance.now() > endsMs;
  return textOf({ entries, ranges: collector.result(), truncated, bucketSeconds });
}

/** The last point before the own ones belongs to them, because the first rate counts from it. */
function firstOwnMs(db: SqliteDatabase, from: number, before: number): number {
  const [fromMs, beforeMs] = [Math.round(from * MS_PER_S), Math.round(before * MS_PER_S)];
  return Math.max(fromMs, pointBefore(db, beforeMs)?.atMs ?? beforeMs);
}

function entryOf(stored: StoredPayload): Entry | undefined {
  const { timestamp } = stored;
  const item = payloadItem(stored);
  return item && { timestamp, text: item.text, point: { ...item.point, atMs: Math.round(timestamp * MS_PER_S) } };
}

function extreme(db: SqliteDatabase, which: 'min' | 'max'): number | null {
  return prepared(db, `SELECT ${which}(timestamp) FROM metrics_snapshots`).pluck().get() as number | null;
}

/** In order. One look for each bucket that has a sample, whatever the number of samples. */
function lastOfBuckets(db: SqliteDatabase, from: number, until: number, bucket: number): number[] {
  const last = prepared(
    db,
    'SELECT max(timestamp) FROM metrics_snapshots WHERE timestamp >= ? AND timestamp <= ?',
  ).pluck();
  const timestamps: number[] = [];
  for (let end = until; end >= from; ) {
    const found = last.get(from, end) as number | null;
    if (found === null) break;
    timestamps.push(found);
    end = justBefore(Math.floor(found / bucket) * bucket);
  }
  return timestamps.reverse();
}

function entryAt(db: SqliteDatabase, timestamp: number): Entry | undefined {
  const sql = `SELECT ${ROW_COLUMNS} FROM metrics_snapshots WHERE timestamp = ?`;
  const row = prepared(db, sql).get(timestamp) as Row | undefined;
  const text = row && itemText(db, row);
  if (text === undefined) return undefined;
  return { timestamp, text, point: pointAt(db, Math.round(timestamp * MS_PER_S)) };
}

function textOf(chart: {
  readonly entries: readonly Entry[];
  readonly ranges: Ranges | null;
  readonly truncated: boolean;
  readonly bucketSeconds: number | null;
}): Uint8Array {
  const { entries, ranges, truncated, bucketSeconds } = chart;
  const members = {
    timestamps: entries.map(({ timestamp }) => timestamp),
    series: seriesOf(entries),
    stats: ranges === null ? null : statsOf(ranges),
    truncated,
    bucket_seconds: bucketSeconds,
  };
  return Buffer.concat([
    Buffer.from('{"items":['),
    ...entries.flatMap(({ text }, index) => (index === 0 ? [text] : [COMMA, text])),
    Buffer.from(`],${JSON.stringify(members).slice(1)}`),
  ]);
}

const COMMA = Buffer.from(',');

function seriesOf(entries: readonly Entry[]) {
  const curves = Object.fromEntries(CURVES.map((curve): [Curve, Numbers] => [curve, []])) as Record<Curve, Numbers>;
  const points = entries.map(({ point }) => point);
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

/** Every curve is named, also one without a value. */
function statsOf({ curves, filesystems, network_interfaces }: Ranges) {
  const all = Object.fromEntries(CURVES.map((curve): [Curve, Range | null] => [curve, curves[curve] ?? null]));
  return { ...all, filesystems, network_interfaces };
}
