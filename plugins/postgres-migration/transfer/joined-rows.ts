// Reads rows of a table in runs, each of which SQLite joins into one value, because a value of JavaScript for each that a
// row has costs several times what SQLite needs to read it.
import type { SqliteDatabase, SqliteStatement } from '#core';
import { type ColumnPlan, quoted, type TablePlan } from './column-plan.ts';
import { NO_VALUE, PlainRows, ROW_END, VALUE_END } from './plain-rows.ts';

/** Row ids, from the first to the last, and the rows that have them. */
export interface RowRun {
  readonly first: bigint;
  readonly last: bigint;
  readonly rows: number;
  /** As rows of a binary `COPY`, until the next run is read; undefined when a value of them is not plain. */
  readonly bytes: Uint8Array | undefined;
}

const UTF8 = 'UTF-8';
const FIRST_ROWID = -(2n ** 63n);
const LAST_ROWID = 2n ** 63n - 1n;
/** What a function of SQLite takes. */
const MAX_COLUMNS = 500;
/** What the rows of a run should have. */
const RUN_BYTES = 64 * 1_024;
/** What the rows of a run that is joined have at most, as SQLite stores them. */
const MAX_RUN_BYTES = 2 * 1_024 * 1_024;
const [MIN_ROWS, MAX_ROWS] = [32, 1_024];
/** Of ids that are dense, one in so many has a row. */
const MAX_GAPS = 2n;
/** After a run that was not plain so many are not joined, and after the next twice as many. */
const MAX_SKIPPED = 64;
const MARKS = {
  valueEnd: Buffer.of(VALUE_END),
  rowEnd: Buffer.of(ROW_END),
  noValue: Buffer.of(NO_VALUE),
};

export class JoinedRows {
  readonly #plain: PlainRows;
  readonly #maxRows: number;
  /** Whether it is found out how large the rows of a run are, because few may be too many. */
  readonly #areMeasured: boolean;
  readonly #selectRun: SqliteStatement;
  readonly #selectJoined: SqliteStatement;
  /** Of the next run. */
  #rows = MIN_ROWS;
  /** Whether most ids that follow one another have rows. */
  #isDense = false;
  #skipped = 0;
  #toSkip = 0;

  private constructor(db: SqliteDatabase, { table, columns, rowidName, maxRowBytes }: TablePlan) {
    this.#plain = new PlainRows(columns);
    this.#maxRows = Math.min(MAX_ROWS, Math.max(MIN_ROWS, Math.floor(MAX_RUN_BYTES / maxRowBytes)));
    const names = columns.map(({ name }) => quoted(name));
    this.#areMeasured = maxRowBytes * MIN_ROWS > MAX_RUN_BYTES;
    const size = this.#areMeasured ? names.map(name => `ifnull(octet_length(${name}), 0)`) : ['0'];
    // Without an index, rows come in the order of their ids.
    const rows = `${quoted(table)} NOT INDEXED`;
    const run = `SELECT ${rowidName} AS id, ${size.join(' + ')} AS size FROM ${rows}
      WHERE ${rowidName} >= ? ORDER BY ${rowidName} LIMIT ?`;
    this.#selectRun = db.prepare(`SELECT min(id), max(id), count(*), sum(size) FROM (${run})`).safeIntegers().raw();
    const values = names.map(name => `coalesce(${name}, $noValue)`);
    const nullable = columns.filter(column => column.isNullable).map(({ name }) => `sum(${quoted(name)} IS NULL)`);
    this.#selectJoined = db
      .prepare(
        `SELECT count(*), count(*) FILTER (WHERE ${columns.map(isFit).join(' AND ')}),
           ${['0', ...nullable].join(' + ')},
           CAST(group_concat(concat_ws($valueEnd, ${values.join()}), $rowEnd) || $rowEnd AS BLOB)
         FROM ${rows} WHERE ${rowidName} BETWEEN $first AND $last`,
      )
      .raw();
  }

  /** undefined for a table whose values are not to be joined. */
  static of(db: SqliteDatabase, plan: TablePlan): JoinedRows | undefined {
    const { table, columns, rowidName, isBinary } = plan;
    const hasPages = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? AND rootpage > 0";
    const canBeJoined =
      rowidName !== null &&
      isBinary &&
      columns.length <= MAX_COLUMNS &&
      db.pragma('encoding', { simple: true }) === UTF8 &&
      db.prepare(hasPages).get(table) !== undefined;
    return canBeJoined ? new JoinedRows(db, plan) : undefined;
  }

  /** All rows of the table, in the order of their ids. */
  *runs(): Generator<RowRun> {
    for (let from = FIRST_ROWID; from <= LAST_ROWID; ) {
      const isLooked = !this.#isDense || this.#toSkip > 0;
      const { first, last, rows, canJoin } = isLooked ? this.#look(from) : this.#guess(from);
      if (isLooked && rows === 0) return;
      from = last + 1n;
      if (canJoin && this.#toSkip === 0) yield* this.#join(first, last);
      else {
        this.#toSkip = Math.max(0, this.#toSkip - 1);
        yield { first, last, rows, bytes: undefined };
      }
    }
  }

  /** The next rows, found out before they are read. */
  #look(from: bigint) {
    const [first, last, count, bytes] = this.#selectRun.get(from, this.#rows) as [bigint, bigint, bigint, bigint];
    this.#isDense = !this.#areMeasured && last - first < count * MAX_GAPS;
    return { first, last, rows: Number(count), canJoin: bytes <= MAX_RUN_BYTES };
  }

  /** As many ids as rows are wanted, without a look at which of them there are. */
  #guess(from: bigint) {
    const last = from + BigInt(this.#rows) - 1n;
    return { first: from, last: last < LAST_ROWID ? last : LAST_ROWID, rows: 0, canJoin: true };
  }

  *#join(first: bigint, last: bigint): Generator<RowRun> {
    const found = this.#selectJoined.get({ ...MARKS, first, last }) as [number, number, number, Buffer];
    const [rows, fit, withoutValue, joined] = found;
    this.#isDense &&= last - first < BigInt(rows) * MAX_GAPS;
    if (rows === 0) return;
    const bytes = fit === rows ? this.#plain.of(joined, rows, withoutValue) : undefined;
    this.#skipped = bytes === undefined ? Math.min(MAX_SKIPPED, this.#skipped * 2 || 1) : 0;
    this.#toSkip = this.#skipped;
    if (bytes !== undefined)
      this.#rows = Math.max(1, Math.min(this.#maxRows, Math.floor((RUN_BYTES * rows) / bytes.length)));
    yield { first, last, rows, bytes };
  }
}

/** Whether SQLite writes the value as the column would have it, or at least in another way than any that is right. */
function isFit({ name, type }: ColumnPlan): string {
  return `typeof(${quoted(name)}) <> '${type.kind === 'text' ? 'real' : 'blob'}'`;
}
