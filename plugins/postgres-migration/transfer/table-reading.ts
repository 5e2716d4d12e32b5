// Reads one table of a SQLite file as the lines that `COPY` takes, a piece at a time, and digests what it gives.
import { TextDecoder } from 'node:util';
import type { SqliteDatabase } from '#core';
import { prepared } from '#kit/prepared-statement';
import { type ColumnPlan, HUGE, quoted, type TablePlan } from './column-plan.ts';
import {
  type Cell,
  type ColumnPieces,
  type ColumnText,
  columnPieces,
  columnText,
  goesInPieces,
  LONG,
  type SqliteValue,
  storedPieces,
} from './column-text.ts';
import { RowDigest, type RowsDigest } from './row-digest.ts';
import { StoredRows } from './stored-rows.ts';
import type { SanitizingRule, TransferRule } from './task.ts';
import { ValueFault } from './value-fault.ts';

/** Of a chunk, which ends with the row that makes it as long. */
const CHUNK_CHARACTERS = 64 * 1_024;

export interface Sanitized {
  readonly column: string;
  readonly rule: SanitizingRule;
  readonly rows: number;
}

export type TableChunk =
  /** `rows`: of the table by now. */
  | { readonly kind: 'rows'; readonly bytes: Uint8Array; readonly rows: number }
  | { readonly kind: 'end'; readonly digest: RowsDigest; readonly sanitized: readonly Sanitized[] }
  /** A value that its column cannot hold; the reading is over. */
  | { readonly kind: 'fault'; readonly column: string; readonly rule: TransferRule; readonly rowid: string | null };

/** Behind the values there is one for each column that may be huge: 1 when it is, and then null stands in its place. */
type Row = readonly [rowid: bigint | null, ...values: SqliteValue[]];

/** A column whose huge values are read from the pages of the file. */
interface HugeColumn {
  /** Among those that are copied. */
  readonly index: number;
  /** Among those that are stored. */
  readonly place: number;
  readonly rows: StoredRows;
}

export class TableReading {
  readonly #db: SqliteDatabase;
  readonly #plan: TablePlan;
  readonly #rows: IterableIterator<Row>;
  readonly #columns: readonly ColumnText[];
  readonly #longColumns: readonly ColumnPieces[];
  readonly #pieces: Generator<string, undefined>;
  readonly #cells: readonly Cell[];
  readonly #hugeColumns: readonly HugeColumn[];
  readonly #encoding: string;
  /** Of the texts in the file. */
  readonly #decoder: TextDecoder;
  readonly #digest = new RowDigest();
  readonly #sanitized = new Map<string, Sanitized>();
  #row: Row | undefined;
  /** Of the column that is written. */
  #index = 0;

  /** `file`: the open file of the database; undefined when its pages cannot be relied on. */
  constructor(db: SqliteDatabase, plan: TablePlan, file?: number) {
    this.#db = db;
    this.#plan = plan;
    // Asked for first, because SQLite answers no pragma while rows are read.
    this.#encoding = db.pragma('encoding', { simple: true }) as string;
    this.#decoder = new TextDecoder(this.#encoding, { fatal: true, ignoreBOM: true });
    const { table, columns, rowidName, hasHugeValues } = plan;
    const stored =
      hasHugeValues && rowidName !== null && file !== undefined ? storedColumns(db, table, file) : undefined;
    this.#hugeColumns = columns.flatMap(({ name, type }, index) =>
      stored !== undefined && goesInPieces(type)
        ? [{ index, rows: stored.rows, place: stored.names.indexOf(name) }]
        : [],
    );
    const huge = this.#hugeColumns.map(({ index }) => `octet_length(${quoted(columns[index]?.name ?? '')}) > ${HUGE}`);
    const values = columns.map(({ name }, index) => {
      const at = this.#hugeColumns.findIndex(column => column.index === index);
      return at < 0 ? quoted(name) : `CASE WHEN ${huge[at]} THEN NULL ELSE ${quoted(name)} END`;
    });
    // The order keeps SQLite from reading an index in place of the table.
    const order = rowidName === null ? '' : ` ORDER BY ${rowidName}`;
    const select = db.prepare(
      `SELECT ${[rowidName ?? 'NULL', ...values, ...huge].join()} FROM ${quoted(table)}${order}`,
    );
    this.#rows = select.safeIntegers().raw().iterate() as IterableIterator<Row>;
    this.#cells = columns.map((column, index) => this.#cell(column.name, index + 1));
    this.#columns = columns.map((column, index) => columnText(column, this.#cells[index] as Cell));
    this.#longColumns = columns.map((column, index) => columnPieces(column, this.#cells[index] as Cell));
    this.#pieces = this.#read();
  }

  next(): TableChunk {
    try {
      const { value, done } = this.#pieces.next();
      if (!done) return { kind: 'rows', bytes: Buffer.from(value), rows: this.#digest.rows };
      return { kind: 'end', digest: this.#digest.value, sanitized: [...this.#sanitized.values()] };
    } catch (error) {
      if (!(error instanceof ValueFault)) throw error;
      this.close();
      const column = this.#plan.columns[this.#index]?.name ?? '';
      return { kind: 'fault', column, rule: error.rule, rowid: this.#row?.[0]?.toString() ?? null };
    }
  }

  close(): void {
    this.#rows.return?.();
  }

  /** Whole rows, but for long ones. */
  *#read(): Generator<string, undefined> {
    let text = '';
    for (const row of this.#rows) {
      this.#row = row;
      if (this.#plan.hasLongRows && (row.some(isLong) || this.#hugeColumns.some((_, at) => this.#isHuge(row, at)))) {
        if (text !== '') yield text;
        text = '';
        for (const piece of this.#longLine(row)) {
          this.#digest.addPiece(piece);
          yield piece;
        }
        this.#digest.endRow();
        continue;
      }
      const line = this.#line(row);
      this.#digest.add(line);
      text += line;
      if (text.length < CHUNK_CHARACTERS) continue;
      yield text;
      text = '';
    }
    if (text !== '') yield text;
  }

  #line(row: Row): string {
    let line = '';
    this.#index = 0;
    for (const write of this.#columns) {
      const text = write(row[this.#index + 1] as SqliteValue);
      line = this.#index === 0 ? text : `${line}\t${text}`;
      this.#index += 1;
    }
    return `${line}\n`;
  }

  *#longLine(row: Row): Generator<string> {
    this.#index = 0;
    for (const pieces of this.#longColumns) {
      if (this.#index > 0) yield '\t';
      const at = this.#hugeColumns.findIndex(({ index }) => index === this.#index);
      if (at >= 0 && this.#isHuge(row, at)) yield* this.#hugeValue(row, this.#hugeColumns[at] as HugeColumn);
      else yield* pieces(row[this.#index + 1] as SqliteValue);
      this.#index += 1;
    }
    yield '\n';
  }

  #isHuge(row: Row, at: number): boolean {
    return row[this.#columns.length + 1 + at] === 1n;
  }

  #hugeValue([rowid]: Row, { index, rows, place }: HugeColumn): Iterable<string> {
    const value = rows.value(rowid ?? 0n, place);
    return storedPieces(this.#plan.columns[index] as ColumnPlan, this.#cells[index] as Cell, value, this.#encoding);
  }

  #cell(column: string, index: number): Cell {
    const bytes = this.#bytesReader(column);
    return {
      bytes,
      strictText: () => this.#decoder.decode(bytes()),
      changed: rule => {
        const rows = this.#sanitized.get(`${index} ${rule}`)?.rows ?? 0;
        this.#sanitized.set(`${index} ${rule}`, { column, rule, rows: rows + 1 });
      },
    };
  }

  /** Reads a value of the present row as it is stored, because texts come with what is no UTF-8 replaced. */
  #bytesReader(column: string): () => Uint8Array {
    const { table, rowidName, primaryKey, columns } = this.#plan;
    const keys = rowidName === null ? primaryKey.map(quoted) : [rowidName];
    const places = rowidName === null ? primaryKey.map(key => columns.findIndex(({ name }) => name === key) + 1) : [0];
    const where = keys.map(key => `${key} IS ?`).join(' AND ');
    const sql = `SELECT CAST(${quoted(column)} AS BLOB) FROM ${quoted(table)} WHERE ${where}`;
    return () => {
      const found = prepared(this.#db, sql)
        .pluck()
        .get(...places.map(place => this.#row?.[place]));
      // A key of another text than was read is no UTF-8 itself.
      if (!(found instanceof Uint8Array)) throw new ValueFault('invalid_utf8');
      return found;
    };
  }
}

/** undefined for a table that is virtual, which has no pages. */
function storedColumns(db: SqliteDatabase, table: string, file: number) {
  // Columns that are computed when they are read are not stored.
  const columns = 'SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 2 ORDER BY cid';
  const root = "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = ?";
  const names = db.prepare(columns).pluck().all(table) as string[];
  const rootPage = db.prepare(root).pluck().get(table) as number;
  return rootPage === 0 ? undefined : { names, rows: new StoredRows(file, rootPage) };
}

function isLong(value: SqliteValue): boolean {
  return (typeof value === 'string' || value instanceof Uint8Array) && value.length >= LONG;
}
