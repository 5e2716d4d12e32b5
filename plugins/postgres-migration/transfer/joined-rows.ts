// Reads rows of a table in runs, each of which SQLite joins into one value, because a value of JavaScript for each that a
// row has costs several times what SQLite needs to read it.
import type { SqliteDatabase, SqliteStatement } from '#core';
import { type ColumnPlan, quoted, type TablePlan } from './column-plan.ts';
import { isPlain, NO_VALUE, PlainLines, ROW_END, VALUE_END } from './plain-lines.ts';

/** Rows that follow one another. */
export interface RowRun {
  readonly first: bigint;
  readonly last: bigint;
  readonly rows: number;
  /** As lines of `COPY`; undefined when a value of them is not plain. */
  readonly lines: Buffer | undefined;
}

const UTF8 = 'UTF-8';
const FIRST_ROWID = -(2n ** 63n);
const LAST_ROWID = 2n ** 63n - 1n;
/** What a function of SQLite takes. */
const MAX_COLUMNS = 500;
/** What the lines of a run should have. */
const RUN_BYTES = 64 * 1_024;
/** What the rows of a run that is joined have at most, as SQLite stores them. */
const MAX_RUN_BYTES = 2 * 1_024 * 1_024;
const [MIN_ROWS, MAX_ROWS] = [32, 1_024];
/** After a run that was not plain so many are not joined, and after the next twice as many. */
const MAX_SKIPPED = 64;
const MARKS = {
  valueEnd: Buffer.of(VALUE_END),
  rowEnd: Buffer.of(ROW_END),
  noValue: Buffer.of(NO_VALUE),
};

export class JoinedRows {
  readonly #lines: PlainLines;
  readonly #columns: number;
  readonly #maxRows: number;
  readonly #selectRun: SqliteStatement;
  readonly #selectJoined: SqliteStatement;
  /** Of the next run. */
  #rows = MIN_ROWS;
  #skipped = 0;
  #toSkip = 0;

  private constructor(db: SqliteDatabase, { table, columns, rowidName, maxRowBytes }: TablePlan) {
    this.#lines = new PlainLines(columns);
    this.#columns = columns.length;
    this.#maxRows = Math.min(MAX_ROWS, Math.max(MIN_ROWS, Math.floor(MAX_RUN_BYTES / maxRowBytes)));
    const names = columns.map(({ name }) => quoted(name));
    // Only few rows of a run that all have as much as the largest are too many.
    const size = maxRowBytes * MIN_ROWS > MAX_RUN_BYTES ? names.map(name => `ifnull(octet_length(${name}), 0)`) : ['0'];
    // Without an index, rows come in the order of their ids.
    const rows = `${quoted(table)} NOT INDEXED`;
    const run = `SELECT ${rowidName} AS id, ${size.join(' + ')} AS size FROM ${rows}
      WHERE ${rowidName} >= ? ORDER BY ${rowidName} LIMIT ?`;
    this.#selectRun = db.prepare(`SELECT min(id), max(id), count(*), sum(size) FROM (${run})`).safeIntegers().raw();
    const values = names.map(name => `coalesce(${name}, $noValue)`);
    this.#selectJoined = db
      .prepare(
        `SELECT count(*), ${names.map(name => `count(${name})`).join(' + ')},
           CAST(group_concat(concat_ws($valueEnd, ${values.join()}), $rowEnd) || $rowEnd AS BLOB)
         FROM ${rows} WHERE ${rowidName} BETWEEN $first AND $last AND ${columns.map(isFit).join(' AND ')}`,
      )
      .raw();
  }

  /** undefined for a table whose values are not to be joined. */
  static of(db: SqliteDatabase, plan: TablePlan): JoinedRows | undefined {
    const { table, columns, rowidName } = plan;
    const hasPages = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? AND rootpage > 0";
    const canBeJoined =
      rowidName !== null &&
      columns.length <= MAX_COLUMNS &&
      columns.every(({ type }) => isPlain(type)) &&
      db.pragma('encoding', { simple: true }) === UTF8 &&
      db.prepare(hasPages).get(table) !== undefined;
    return canBeJoined ? new JoinedRows(db, plan) : undefined;
  }

  /** All rows of the table, in the order of their ids. */
  *runs(): Generator<RowRun> {
    for (let from = FIRST_ROWID; ; ) {
      const [first, last, count, bytes] = this.#selectRun.get(from, this.#rows) as [bigint, bigint, bigint, bigint];
      const rows = Number(count);
      if (rows === 0) return;
      yield { first, last, rows, lines: bytes > MAX_RUN_BYTES ? undefined : this.#join(first, last, rows) };
      if (last === LAST_ROWID) return;
      from = last + 1n;
    }
  }

  #join(first: bigint, last: bigint, rows: number): Buffer | undefined {
    if (this.#toSkip > 0) {
      this.#toSkip -= 1;
      return undefined;
    }
    const [fit, values, joined] = this.#selectJoined.get({ ...MARKS, first, last }) as [number, number, Buffer];
    const lines = fit === rows ? this.#lines.of(joined, rows, rows * this.#columns - values) : undefined;
    this.#skipped = lines === undefined ? Math.min(MAX_SKIPPED, this.#skipped * 2 || 1) : 0;
    this.#toSkip = this.#skipped;
    if (lines !== undefined)
      this.#rows = Math.max(1, Math.min(this.#maxRows, Math.floor((RUN_BYTES * rows) / lines.length)));
    return lines;
  }
}

/** Whether SQLite writes the value as the column would have it, or at least in another way than any that is right. */
function isFit({ name, type }: ColumnPlan): string {
  return `typeof(${quoted(name)}) <> '${type.kind === 'text' ? 'real' : 'blob'}'`;
}
