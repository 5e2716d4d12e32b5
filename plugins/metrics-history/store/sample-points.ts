// The points of samples, a narrow row each: curves and their extremes are made from them without reading samples.
import type { SqliteDatabase } from '#core';
import { prepared } from '#kit/prepared-statement';
import type { Pair, Point, TimedPoint } from '../codec/compact-item.ts';

interface PointRow {
  readonly at_ms: number;
  readonly cpu: number | null;
  readonly mem: number | null;
  readonly disk: number | null;
  readonly inode: number | null;
  readonly disk_read: number | null;
  readonly disk_written: number | null;
  readonly net_sent: number | null;
  readonly net_received: number | null;
  readonly parts: string;
}

/** The numbers of paths, then those of interfaces: for each the id of its name and two numbers. */
type Parts = readonly [fileSystems: readonly Part[], interfaces: readonly Part[]];
type Part = readonly [nameId: number, first: number | null, second: number | null];

const NO_PARTS: Parts = [[], []];
const TENTHS = 10;
/** How far ahead `until_ms` of a name that is in use is set, so that only few samples write the name. */
const AHEAD_MS = 3_600_000;

interface Name {
  readonly id: number;
  /** No point after this time has the name. */
  readonly until_ms: number;
}

interface Names {
  readonly known: Map<string, Name>;
  readonly names: Map<number, string>;
}

const memories = new WeakMap<SqliteDatabase, Names>();

export function writePoint(db: SqliteDatabase, atMs: number, point: Point): void {
  const parts: Parts = [
    [...point.fileSystems].map(
      ([name, [space, inodes]]): Part => [idOf(db, name, atMs), tenths(space), tenths(inodes)],
    ),
    [...point.interfaces].map(([name, [sent, received]]): Part => [idOf(db, name, atMs), sent, received]),
  ];
  prepared(db, 'INSERT OR REPLACE INTO metrics_points VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').run(
    atMs,
    tenths(point.cpu),
    tenths(point.mem),
    tenths(point.disk),
    tenths(point.inode),
    point.diskRead,
    point.diskWritten,
    point.netSent,
    point.netReceived,
    JSON.stringify(parts),
  );
}

export function pointAt(db: SqliteDatabase, atMs: number): TimedPoint | undefined {
  const row = prepared(db, 'SELECT * FROM metrics_points WHERE at_ms = ?').get(atMs) as PointRow | undefined;
  return row && pointOfRow(db, row);
}

/** The last point before this moment. */
export function pointBefore(db: SqliteDatabase, atMs: number): TimedPoint | undefined {
  const sql = 'SELECT * FROM metrics_points WHERE at_ms < ? ORDER BY at_ms DESC LIMIT 1';
  const row = prepared(db, sql).get(atMs) as PointRow | undefined;
  return row && pointOfRow(db, row);
}

/** The points in order; `toMs` is exclusive. */
export function* pointsBetween(db: SqliteDatabase, fromMs: number, toMs: number): Generator<TimedPoint> {
  const rows = prepared(db, 'SELECT * FROM metrics_points WHERE at_ms >= ? AND at_ms < ? ORDER BY at_ms');
  for (const row of rows.all(fromMs, toMs)) yield pointOfRow(db, row as PointRow);
}

function pointOfRow(db: SqliteDatabase, row: PointRow): TimedPoint {
  const [fileSystems, interfaces] = partsIn(row.parts);
  return {
    atMs: row.at_ms,
    cpu: percent(row.cpu),
    mem: percent(row.mem),
    disk: percent(row.disk),
    inode: percent(row.inode),
    diskRead: row.disk_read,
    diskWritten: row.disk_written,
    netSent: row.net_sent,
    netReceived: row.net_received,
    fileSystems: new Map(fileSystems.map(([id, space, inodes]) => [nameOf(db, id), [percent(space), percent(inodes)]])),
    interfaces: new Map(interfaces.map(([id, sent, received]): [string, Pair] => [nameOf(db, id), [sent, received]])),
  };
}

/** A damaged text counts as one without parts, because an error would spoil every chart with this point. */
function partsIn(text: string): Parts {
  try {
    const parts: unknown = JSON.parse(text);
    const isList = (list: unknown): boolean => Array.isArray(list) && list.every(part => Number.isInteger(part?.[0]));
    return Array.isArray(parts) && isList(parts[0]) && isList(parts[1]) ? (parts as unknown as Parts) : NO_PARTS;
  } catch {
    return NO_PARTS;
  }
}

/** Called after a rollback, which may have undone names that are remembered. */
export function forgetNames(db: SqliteDatabase): void {
  memories.delete(db);
}

/** Removes the names that no point has any more. */
export function removeNames(db: SqliteDatabase): void {
  const sql = 'DELETE FROM metrics_names WHERE until_ms < (SELECT min(at_ms) FROM metrics_points)';
  if (prepared(db, sql).run().changes > 0) forgetNames(db);
}

function idOf(db: SqliteDatabase, name: string, atMs: number): number {
  const { known, names } = namesOf(db);
  const noted = known.get(name);
  if (noted !== undefined && atMs <= noted.until_ms) return noted.id;
  const made = prepared(
    db,
    `INSERT INTO metrics_names (name, until_ms) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET until_ms = max(until_ms, excluded.until_ms) RETURNING id, until_ms`,
  ).get(name, atMs + AHEAD_MS) as Name;
  known.set(name, made);
  names.set(made.id, name);
  return made.id;
}

function nameOf(db: SqliteDatabase, id: number): string {
  const { names } = namesOf(db);
  const name = names.get(id);
  if (name !== undefined) return name;
  const found = prepared(db, 'SELECT name FROM metrics_names WHERE id = ?').pluck().get(id) as string;
  names.set(id, found);
  return found;
}

function namesOf(db: SqliteDatabase): Names {
  const remembered = memories.get(db) ?? { known: new Map(), names: new Map() };
  memories.set(db, remembered);
  return remembered;
}

function tenths(value: number | null): number | null {
  return value === null ? null : Math.round(value * TENTHS * 1_000) / 1_000;
}

function percent(stored: number | null): number | null {
  return stored === null ? null : stored / TENTHS;
}
