// The functions that run in the thread of the database.
import type { SqliteDatabase } from '#core';
import { refuseCostlyJson } from '#kit/nesting';
import { prepared } from '#kit/prepared-statement';
import { type ChartRequest, chartText, type JoinedChartRequest, joinedChartText } from './charts/chart.ts';
import { keepDueBlock, rehearse } from './charts/usual-charts.ts';
import { type Piece, pieceOf } from './codec/gzip-pieces.ts';
import { ZLIB } from './codec/sample-codec.ts';
import type { StoredPayload } from './contract.ts';
import { type Limits, maintain as maintainOnce } from './retention.ts';
import { damagedTimes, noteDamaged } from './store/damaged-rows.ts';
import { count, counter, metadata, setMetadata } from './store/metadata.ts';
import {
  forgetMemory,
  itemText,
  keepNumbers,
  parseSample,
  payloadText,
  ROW_COLUMNS,
  type Row,
  restoreSample,
  wholeText,
  writeSample,
  zlibPoint,
} from './store/samples.ts';
import { migrations } from './store/schema.ts';

export {
  changesAfter,
  hoursSince,
  mark,
  oldestAfter,
  pendingAfter,
  samplesAt,
  timesOfHour,
  unknownTimes,
} from './changes.ts';
export { processUsage } from './store/process-usage.ts';
export { migrations };

const PIECE_BYTES = 256 * 1_024;
const UNREAD_ROWS = 200;
const MS_PER_S = 1_000;
/** How far ahead of now an imported sample may be: a later one cannot be right, and would stretch every chart. */
const CLOCK_SLACK_S = 86_400;

export interface StorageNumbers {
  readonly samples: number;
  readonly rawBytes: number;
  readonly storedBytes: number;
  readonly thinnedSamples: number;
  readonly oldest: number | null;
  readonly newest: number | null;
}

export interface ImportRecord {
  readonly completed: boolean;
  readonly files: number;
  readonly samples: number;
  readonly skipped: number;
}

/** Writes all samples or none. */
export function write(db: SqliteDatabase, texts: readonly string[]): void {
  const samples = texts.map(parseSample);
  atomically(db, () => {
    for (const sample of samples) writeSample(db, sample);
  });
  keepDueBlock(db, samples.at(-1)?.timestamp ?? 0);
}

/** Writes samples that another store holds; damaged ones are left out. */
export function restore(db: SqliteDatabase, { samples }: { readonly samples: readonly StoredPayload[] }): void {
  atomically(db, () => {
    for (const stored of samples) restoreSample(db, stored);
  });
}

/** Writes the lines that are samples, and counts the others as skipped. */
export function importLines(db: SqliteDatabase, lines: readonly string[]): { samples: number; skipped: number } {
  const latest = Date.now() / MS_PER_S + CLOCK_SLACK_S;
  const samples = lines.flatMap(line => {
    try {
      refuseCostlyJson(line);
      const parsed = parseSample(line);
      return parsed.timestamp > latest ? [] : [parsed];
    } catch {
      return [];
    }
  });
  try {
    atomically(db, () => {
      for (const sample of samples) writeSample(db, sample);
    });
    return { samples: samples.length, skipped: lines.length - samples.length };
  } catch (error) {
    if (isLocked(error)) throw error;
    return importOneByOne(db, samples, lines.length);
  }
}

/** Writes each sample in a transaction of its own, so that only those that cannot be written are left out. */
function importOneByOne(db: SqliteDatabase, samples: readonly ReturnType<typeof parseSample>[], lines: number) {
  let written = 0;
  let failure: unknown;
  for (const sample of samples) {
    try {
      atomically(db, () => writeSample(db, sample));
      written += 1;
    } catch (error) {
      if (isLocked(error)) throw error;
      failure = error;
    }
  }
  // When nothing can be written, a failure of SQLite is that of the database and not of the lines.
  if (written === 0 && isOfDatabase(failure)) throw failure;
  return { samples: written, skipped: lines - written };
}

/** Whether the file is locked, so that the whole batch can be tried again later. */
function isLocked(failure: unknown): boolean {
  return String((failure as { readonly code?: unknown } | undefined)?.code).startsWith('SQLITE_BUSY');
}

function isOfDatabase(failure: unknown): boolean {
  return String((failure as { readonly code?: unknown } | undefined)?.code).startsWith('SQLITE_');
}

/** The answer of `GET /metrics/history_series`, compressed by gzip. */
export function chart(db: SqliteDatabase, request: ChartRequest): Uint8Array {
  return chartText(db, request);
}

/** See `rehearse`. */
export function rehearseChart(db: SqliteDatabase, { now }: { readonly now: number }): void {
  rehearse(db, now);
}

/** See `joinedChartText`. */
export function joinedChart(db: SqliteDatabase, request: JoinedChartRequest): Uint8Array | null {
  return joinedChartText(db, request);
}

/** The texts of another store's samples, separated by commas, without damaged ones; null when none is left. */
export function pieceOfPayloads(
  db: SqliteDatabase,
  { rows }: { readonly rows: readonly StoredPayload[] },
): Piece | null {
  const texts = rows.flatMap(row => payloadText(db, row) ?? []);
  return texts.length === 0 ? null : pieceOf(listed(texts));
}

/**
 * The newest samples of a window, at most `limit`: how many there are, the time of the oldest of them, and whether the
 * window has older ones. Rows that are known to be damaged do not count.
 */
export function windowOf(
  db: SqliteDatabase,
  {
    since,
    before = Number.POSITIVE_INFINITY,
    limit,
  }: { readonly since: number | null; readonly before?: number; readonly limit: number },
): { readonly samples: number; readonly from: number | null; readonly truncated: boolean } {
  const from = since ?? Number.NEGATIVE_INFINITY;
  const damaged = damagedTimes(db);
  const rows = prepared(
    db,
    'SELECT timestamp FROM metrics_snapshots WHERE timestamp >= ? AND timestamp < ? ORDER BY timestamp DESC LIMIT ?',
  )
    .pluck()
    .all(from, before, limit + 1 + damaged.size) as number[];
  const newest = damaged.size === 0 ? rows : rows.filter(timestamp => !damaged.has(timestamp));
  const truncated = newest.length > limit;
  const samples = truncated ? limit : newest.length;
  return { samples, from: newest[samples - 1] ?? null, truncated };
}

/** The texts of the samples of a span, in order, separated by commas within a piece. */
export function* pieces(
  db: SqliteDatabase,
  { from, before }: { readonly from: number; readonly before?: number },
): Generator<Piece> {
  let texts: Buffer[] = [];
  let bytes = 0;
  for (const text of eachText(db, from, wholeText, before)) {
    texts.push(text);
    bytes += text.length;
    if (bytes < PIECE_BYTES) continue;
    yield pieceOf(listed(texts));
    texts = [];
    bytes = 0;
  }
  if (texts.length > 0) yield pieceOf(listed(texts));
}

function listed(texts: readonly Buffer[]): Buffer {
  return Buffer.concat(texts.flatMap((text, index) => (index === 0 ? [text] : [COMMA, text])));
}

/** The JSON texts of the parts that charts need, in order. */
export function* items(
  db: SqliteDatabase,
  { from, until }: { readonly from: number; readonly until: number },
): Generator<string> {
  for (const text of eachText(db, from, itemText, until)) yield text.toString();
}

/** Times of the oldest and the newest sample. */
export function bounds(db: SqliteDatabase): { readonly oldest: number | null; readonly newest: number | null } {
  const [oldest, newest] = ['min', 'max'].map(which =>
    prepared(db, `SELECT ${which}(timestamp) FROM metrics_snapshots`).pluck().get(),
  ) as [number | null, number | null];
  return { oldest, newest };
}

export function storage(db: SqliteDatabase): StorageNumbers {
  return {
    samples: counter(db, 'samples'),
    rawBytes: counter(db, 'raw_bytes'),
    storedBytes: counter(db, 'compressed_bytes'),
    thinnedSamples: counter(db, 'thinned_samples'),
    ...bounds(db),
  };
}

/** Does one piece of the maintenance. Returns whether there is more to do. */
export function maintain(db: SqliteDatabase, limits: Limits): boolean {
  return db.transaction(() => maintainOnce(db, limits))();
}

/** Writes the numbers of some samples of an earlier program into the tables. Returns whether there are more. */
export function readUnread(db: SqliteDatabase): boolean {
  if (counter(db, 'unread_samples') <= 0) return false;
  const rows = prepared(
    db,
    `SELECT ${ROW_COLUMNS} FROM metrics_snapshots WHERE codec = ${ZLIB} AND timestamp > ? ORDER BY timestamp LIMIT ${UNREAD_ROWS}`,
  ).all(Number(metadata(db, 'read_until') ?? 0)) as Row[];
  atomically(db, () => {
    for (const row of rows) {
      const point = zlibPoint(row);
      if (point !== undefined) keepNumbers(db, row.timestamp, point);
    }
    const last = rows.at(-1);
    if (last !== undefined) setMetadata(db, 'read_until', String(last.timestamp));
    count(db, 'unread_samples', rows.length < UNREAD_ROWS ? -counter(db, 'unread_samples') : -rows.length);
  });
  return rows.length === UNREAD_ROWS;
}

export function importRecord(db: SqliteDatabase): ImportRecord {
  const number = (key: string): number => Number(metadata(db, `jsonl_migration_${key}`) ?? 0);
  return {
    completed: metadata(db, 'jsonl_migration_v1') === 'complete',
    files: number('files'),
    samples: number('samples'),
    skipped: number('skipped'),
  };
}

export function recordImport(db: SqliteDatabase, { completed, files, samples, skipped }: ImportRecord): void {
  atomically(db, () => {
    setMetadata(db, 'jsonl_migration_v1', completed ? 'complete' : 'incomplete');
    setMetadata(db, 'jsonl_migration_files', String(files));
    setMetadata(db, 'jsonl_migration_samples', String(samples));
    setMetadata(db, 'jsonl_migration_skipped', String(skipped));
  });
}

const COMMA = Buffer.from(',');

function* eachText(
  db: SqliteDatabase,
  from: number,
  read: (db: SqliteDatabase, row: Row) => Buffer | undefined,
  until = Number.POSITIVE_INFINITY,
): Generator<Buffer> {
  const sql = `SELECT ${ROW_COLUMNS} FROM metrics_snapshots WHERE timestamp >= ? AND timestamp < ? ORDER BY timestamp`;
  for (const row of db.prepare(sql).iterate(from, until)) {
    const text = read(db, row as Row);
    if (text !== undefined) yield text;
    // A row that is damaged for charts alone is still given as a whole.
    else if (read === wholeText) noteDamaged(db, (row as Row).timestamp);
  }
}

/** Runs the work in a transaction. A rollback also clears the memory of the thread, which may hold undone changes. */
function atomically(db: SqliteDatabase, work: () => void): void {
  try {
    db.transaction(work)();
  } catch (error) {
    forgetMemory(db);
    throw error;
  }
}
