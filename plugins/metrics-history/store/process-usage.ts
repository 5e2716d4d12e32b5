// What processes used over spans of time. Long spans are read from samples at even distances, so that a week takes no
// longer than a day.
import type { SqliteDatabase } from '#core';
import { prepared } from '#kit/prepared-statement';
import type { NumberSummary, ProcessUsageSummary, SpanUsage, TimeSpan } from '../contract.ts';
import { itemText, ROW_COLUMNS, type Row } from './samples.ts';

const MAX_SAMPLES = 1_500;
/** How long a request may read; after that the answer has only what was read so far. */
const BUDGET_MS = 4_000;
const P95 = 0.95;

/** Names are compared without case; an empty list stands for every process. */
export interface UsageRequest {
  readonly spans: readonly TimeSpan[];
  readonly names: readonly string[];
}

export function processUsage(db: SqliteDatabase, { spans, names }: UsageRequest): SpanUsage[] {
  const endsMs = performance.now() + BUDGET_MS;
  const wanted = names.length === 0 ? undefined : new Set(names.map(name => name.toLowerCase()));
  return spans.map((span, index) => {
    const shareMs = performance.now() + (endsMs - performance.now()) / (spans.length - index);
    return usageOf(db, span, wanted, shareMs);
  });
}

function usageOf(
  db: SqliteDatabase,
  span: TimeSpan,
  wanted: ReadonlySet<string> | undefined,
  endsMs: number,
): SpanUsage {
  const total = prepared(db, 'SELECT count(*) FROM metrics_snapshots WHERE timestamp >= ? AND timestamp < ?')
    .pluck()
    .get(span.from, span.before) as number;
  const processes = new Map<string, Collected>();
  let read = 0;
  let isLate = false;
  for (const row of total <= MAX_SAMPLES ? everyRow(db, span) : evenRows(db, span)) {
    isLate = performance.now() > endsMs;
    if (isLate) break;
    const text = itemText(db, row);
    if (text === undefined) continue;
    read += 1;
    const { dumb_managed: managed } = JSON.parse(text.toString()) as { readonly dumb_managed?: unknown };
    for (const entry of Array.isArray(managed) ? managed : []) take(processes, row.timestamp, entry, wanted);
  }
  return {
    samples: read,
    truncated: isLate || read < total,
    processes: [...processes.values()].map(collected => summaryOf(collected)),
  };
}

function everyRow(db: SqliteDatabase, { from, before }: TimeSpan): Iterable<Row> {
  const sql = `SELECT ${ROW_COLUMNS} FROM metrics_snapshots WHERE timestamp >= ? AND timestamp < ? ORDER BY timestamp`;
  return db.prepare(sql).iterate(from, before) as Iterable<Row>;
}

/** Rows at even distances: the span is divided into `MAX_SAMPLES` parts, and the first row of each part is read. */
function* evenRows(db: SqliteDatabase, { from, before }: TimeSpan): Generator<Row> {
  const next = prepared(
    db,
    `SELECT ${ROW_COLUMNS} FROM metrics_snapshots WHERE timestamp >= ? AND timestamp < ? ORDER BY timestamp LIMIT 1`,
  );
  const first = prepared(db, 'SELECT min(timestamp) FROM metrics_snapshots WHERE timestamp >= ?').pluck().get(from);
  const last = prepared(db, 'SELECT max(timestamp) FROM metrics_snapshots WHERE timestamp < ?').pluck().get(before);
  const start = Math.max(from, Number(first));
  const step = (Math.min(before, Number(last) + 1) - start) / MAX_SAMPLES;
  for (let at = start; at < before; ) {
    const row = next.get(at, before) as Row | undefined;
    if (row === undefined) return;
    yield row;
    at = Math.max(start + (Math.floor((row.timestamp - start) / step) + 1) * step, row.timestamp + step / 2);
  }
}

interface Collected {
  readonly name: string;
  readonly cpu: number[];
  readonly rss: number[];
  readonly pids: Set<number>;
  first: number;
  last: number;
  samples: number;
  /** The last reading of the disk counters; differences count only within one pid. */
  disk: { readonly pid: number; readonly at: number; readonly read: number; readonly written: number } | undefined;
  readBytes: number;
  writtenBytes: number;
  diskSeconds: number;
}

function take(
  processes: Map<string, Collected>,
  at: number,
  entry: unknown,
  wanted: ReadonlySet<string> | undefined,
): void {
  if (typeof entry !== 'object' || entry === null) return;
  const { name, pid, cpu_percent: cpu, rss, disk_io: disk } = entry as Readonly<Record<string, unknown>>;
  if (typeof name !== 'string' || (wanted !== undefined && !wanted.has(name.toLowerCase()))) return;
  const key = name.toLowerCase();
  const known = processes.get(key) ?? emptyOf(name, at);
  processes.set(key, known);
  known.samples += 1;
  known.last = at;
  if (isNumber(cpu)) known.cpu.push(cpu);
  if (isNumber(rss)) known.rss.push(rss);
  if (isNumber(pid)) known.pids.add(pid);
  const { read_bytes: read, write_bytes: written } = (disk ?? {}) as Readonly<Record<string, unknown>>;
  if (!isNumber(pid) || !isNumber(read) || !isNumber(written)) return;
  // A counter that is lower than before has begun anew.
  if (known.disk?.pid === pid && read >= known.disk.read && written >= known.disk.written) {
    known.readBytes += read - known.disk.read;
    known.writtenBytes += written - known.disk.written;
    known.diskSeconds += at - known.disk.at;
  }
  known.disk = { pid, at, read, written };
}

function emptyOf(name: string, at: number): Collected {
  const numbers = { samples: 0, readBytes: 0, writtenBytes: 0, diskSeconds: 0 };
  return { name, cpu: [], rss: [], pids: new Set(), first: at, last: at, disk: undefined, ...numbers };
}

function summaryOf(collected: Collected): ProcessUsageSummary {
  const { name, samples, first, last, pids, cpu, rss, readBytes, writtenBytes, diskSeconds } = collected;
  const rate = (bytes: number): number | null => (diskSeconds > 0 ? bytes / diskSeconds : null);
  return {
    processName: name,
    samples,
    first,
    last,
    pids: [...pids],
    cpuPercent: summarize(cpu),
    rssBytes: summarize(rss),
    readBytesPerSecond: rate(readBytes),
    writtenBytesPerSecond: rate(writtenBytes),
  };
}

function summarize(values: readonly number[]): NumberSummary | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
  const middle = sorted.length / 2;
  const median = sorted.length % 2 === 1 ? at(0.5) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
  return {
    samples: sorted.length,
    average: sorted.reduce((sum, value) => sum + value, 0) / sorted.length,
    median,
    p95: at(P95),
    maximum: sorted.at(-1) ?? 0,
    minimum: sorted[0] ?? 0,
  };
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
