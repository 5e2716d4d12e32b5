// The statements on a SQLite file that is transferred. They run in the thread of the database, in one read transaction.
import { constants, openSync, statSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import type { SqliteDatabase } from '#core';
import type { SqliteWorkerData } from '#kit/sqlite-worker';
import { HUGE, quoted, type TablePlan } from './column-plan.ts';
import { Pages } from './pages.ts';
import { SharedRows } from './shared-rows.ts';
import { isKeyRowid } from './stored-table.ts';
import { type TableChunk, TableReading } from './table-reading.ts';

export interface SourceTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly primaryKey: readonly string[];
  readonly rowidName: string | null;
  /** The column that stands for the row id; null when none does. */
  readonly rowidColumn: string | null;
  /** The greatest row id that SQLite has ever given out, if the table is AUTOINCREMENT; else null. */
  readonly lastRowid: string | null;
}

export interface TableSize {
  readonly rows: number;
  /** No row has more bytes as SQLite stores it. */
  readonly maxRowBytes: number;
  /**
   * The first row that is too large to be transferred; null when there is none. Its `rowid` is null in a table without
   * row ids.
   */
  readonly oversized: { readonly rowid: string | null } | null;
}

/** Rows in the shared memory, which are valid until the chunk after the next one is read. */
export interface LeftRows {
  readonly kind: 'left';
  readonly at: number;
  readonly bytes: number;
  readonly rows: number;
}

const ROWID_NAMES = ['rowid', '_rowid_', 'oid'];
/** Guards against a database that was made to do harm. */
const GUARDS = ['trusted_schema = OFF', 'cell_size_check = ON'];
/** Small (in KiB), because each page is read once. */
const CACHE = 'cache_size = -2000';
const { shared: memory } = (workerData ?? {}) as Partial<SqliteWorkerData>;
const shared = memory && new SharedRows(memory);
let reading: TableReading | undefined;
/** The pages of the file. Its descriptor stays open, because closing it would release the locks of SQLite. */
let pages: Pages | undefined;

/** Begins the transaction and gives all tables but those of SQLite itself, in the order of their names. */
export function begin(db: SqliteDatabase, { path }: { readonly path: string }): SourceTable[] {
  for (const setting of [...GUARDS, CACHE]) db.pragma(setting);
  db.exec('BEGIN');
  // Pages in a write-ahead log are newer than those of the file.
  const hasLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  pages = hasLog ? undefined : new Pages(openSync(path, flags));
  const tables = db
    .prepare(
      `SELECT name, wr FROM pragma_table_list
       WHERE schema = 'main' AND type IN ('table', 'virtual', 'shadow') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
       ORDER BY name`,
    )
    .all() as { name: string; wr: number }[];
  const counted = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'").get() !== undefined;
  return tables.map(({ name, wr }) => {
    const columns = db
      .prepare('SELECT name, pk FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid')
      .all(name) as { name: string; pk: number }[];
    const names = columns.map(column => column.name);
    const taken = new Set(names.map(one => one.toLowerCase()));
    const primaryKey = columns
      .filter(({ pk }) => pk > 0)
      .sort((one, other) => one.pk - other.pk)
      .map(column => column.name);
    return {
      name,
      columns: names,
      primaryKey,
      rowidColumn: wr === 0 && isKeyRowid(db, name) ? (primaryKey[0] ?? null) : null,
      rowidName: wr === 1 ? null : (ROWID_NAMES.find(rowid => !taken.has(rowid)) ?? null),
      lastRowid: counted ? lastRowid(db, name) : null,
    };
  });
}

function lastRowid(db: SqliteDatabase, table: string): string | null {
  const select = "SELECT CAST(seq AS TEXT) FROM sqlite_sequence WHERE name = ? AND typeof(seq) = 'integer'";
  return (db.prepare(select).pluck().get(table) as string | undefined) ?? null;
}

/**
 * Counts the rows, and looks for one with a value of more than `maxValueBytes`, or with more than `maxRowBytes` in
 * values that are read as a whole, without reading large values.
 */
export function measure(
  db: SqliteDatabase,
  {
    table,
    columns,
    inPieces,
    rowidName,
    maxRowBytes,
    maxValueBytes,
  }: Pick<TablePlan, 'table' | 'rowidName'> & {
    readonly columns: readonly string[];
    /** Those of `columns` whose huge values are not read as a whole. */
    readonly inPieces: readonly string[];
    readonly maxRowBytes: number;
    readonly maxValueBytes: number;
  },
): TableSize {
  const sizes = columns.map(column => `octet_length(${quoted(column)})`);
  const rows = one(db, `SELECT count(*) FROM ${quoted(table)}`)[0] ?? 0;
  const size = { rows, maxRowBytes: storedBytes(db, table) ?? valueBytes(db, table, sizes), oversized: null };
  if (size.maxRowBytes <= maxRowBytes) return size;
  const canSkip = columns.map(column => inPieces.includes(column) && rowidName !== null && pages !== undefined);
  const select = `SELECT ${[rowidName === null ? 'NULL' : `CAST(${rowidName} AS TEXT)`, ...sizes].join()} FROM ${quoted(table)}`;
  for (const [rowid, ...lengths] of db.prepare(select).raw().iterate() as IterableIterator<
    [string | null, ...number[]]
  >) {
    const whole = lengths.filter((length, index) => length <= HUGE || !canSkip[index]);
    if (total(whole) > maxRowBytes || lengths.some(length => length > maxValueBytes))
      return { ...size, oversized: { rowid } };
  }
  return size;
}

/**
 * Bytes of the largest row in the pages, found without reading a value; undefined when values are computed or have no
 * pages.
 */
function storedBytes(db: SqliteDatabase, table: string): number | undefined {
  const isComputed = db.prepare('SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden = 2').get(table) !== undefined;
  const largest = db.prepare("SELECT mx_payload FROM dbstat('main', 1) WHERE name = ?").pluck();
  return isComputed ? undefined : (largest.get(table) as number | undefined);
}

/** Bytes of a row that had the largest value of each column. */
function valueBytes(db: SqliteDatabase, table: string, sizes: readonly string[]): number {
  return total(one(db, `SELECT ${sizes.map(size => `max(${size})`).join()} FROM ${quoted(table)}`));
}

function one(db: SqliteDatabase, select: string): number[] {
  return db.prepare(select).raw().get() as number[];
}

function total(lengths: readonly (number | null)[]): number {
  return lengths.reduce<number>((sum, length) => sum + (length ?? 0), 0);
}

export function holdsData(
  db: SqliteDatabase,
  { table, column }: { readonly table: string; readonly column: string | null },
): boolean {
  const where = column === null ? '' : ` WHERE ${quoted(column)} IS NOT NULL`;
  return db.prepare(`SELECT 1 FROM ${quoted(table)}${where} LIMIT 1`).get() !== undefined;
}

/** Makes `readChunk` read this table from now on. */
export function openTable(db: SqliteDatabase, plan: TablePlan): void {
  reading?.close();
  reading = new TableReading(db, plan, pages);
}

/** The next chunk; rows are left in the memory of both threads where they have room there. */
export function readChunk(_db: SqliteDatabase): TableChunk | LeftRows {
  if (reading === undefined) throw new Error('no table is open');
  const chunk = reading.next();
  const at = chunk.kind === 'rows' ? shared?.leave(chunk.bytes) : undefined;
  return chunk.kind === 'rows' && at !== undefined
    ? { kind: 'left', at, bytes: chunk.bytes.length, rows: chunk.rows }
    : chunk;
}

/** The row id of the row at a place from 0 on, in the order in which rows are read. */
export function rowidAt(
  db: SqliteDatabase,
  { table, rowidName, place }: { readonly table: string; readonly rowidName: string; readonly place: number },
): string | null {
  const select = `SELECT CAST(${rowidName} AS TEXT) FROM ${quoted(table)} ORDER BY ${rowidName} LIMIT 1 OFFSET ?`;
  return (db.prepare(select).pluck().get(place) as string | undefined) ?? null;
}

/** The row id of a row whose columns have these texts. */
export function rowidOf(
  db: SqliteDatabase,
  {
    table,
    rowidName,
    values,
  }: {
    readonly table: string;
    readonly rowidName: string;
    readonly values: readonly { readonly column: string; readonly text: string }[];
  },
): string | null {
  const where = values.map(({ column }) => `CAST(${quoted(column)} AS TEXT) = ?`).join(' AND ');
  const select = `SELECT CAST(${rowidName} AS TEXT) FROM ${quoted(table)} WHERE ${where} LIMIT 1`;
  const rowid = db
    .prepare(select)
    .pluck()
    .get(...values.map(({ text }) => text));
  return (rowid as string | undefined) ?? null;
}
