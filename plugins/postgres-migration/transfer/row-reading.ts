// Reads rows of a SQLite file one by one, each value by the rules of its column, as the lines that `COPY` takes.
import { TextDecoder } from 'node:util';
import type { SqliteDatabase, SqliteStatement } from '#core';
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
import type { Pages } from './pages.ts';
import { StoredRows } from './stored-rows.ts';
import { storedTable } from './stored-table.ts';
import type { SanitizingRule } from './task.ts';
import { ValueFault } from './value-fault.ts';

/** A piece of text ends with the row that makes it as long as this. */
const PIECE_CHARACTERS = 64 * 1_024;

export interface Sanitized {
  readonly column: string;
  readonly rule: SanitizingRule;
  readonly rows: number;
}

/**
 * The values are followed by a flag for each column that may be huge: 1 when its value is huge and was read as null.
 */
type Row = readonly [rowid: bigint | null, ...values: SqliteValue[]];

/** A column whose huge values are read from the pages of the file. */
interface HugeColumn {
  /** Index among the copied columns. */
  readonly index: number;
  /** Index among the stored columns. */
  readonly place: number;
  readonly rows: StoredRows;
}

export class RowReading {
  readonly #db: SqliteDatabase;
  readonly #plan: TablePlan;
  readonly #select: SqliteStatement;
  readonly #columns: readonly ColumnText[];
  readonly #longColumns: readonly ColumnPieces[];
  readonly #cells: readonly Cell[];
  readonly #hugeColumns: readonly HugeColumn[];
  readonly #encoding: string;
  /** Decodes texts in the encoding of the file, and throws when they are not valid. */
  readonly #decoder: TextDecoder;
  readonly #sanitized = new Map<string, Sanitized>();
  #row: Row | undefined;
  #rows = 0;
  /** Index of the column that is being written. */
  #index = 0;

  /** `pages`: those of the file; undefined when a write-ahead log has newer ones. */
  constructor(db: SqliteDatabase, plan: TablePlan, pages?: Pages) {
    this.#db = db;
    this.#plan = plan;
    // Asked for first, because SQLite answers no pragma while rows are read.
    this.#encoding = db.pragma('encoding', { simple: true }) as string;
    this.#decoder = new TextDecoder(this.#encoding, { fatal: true, ignoreBOM: true });
    const { table, columns, rowidName, maxRowBytes } = plan;
    const stored = maxRowBytes > HUGE && rowidName !== null ? storedTable(db, table) : undefined;
    const rows = pages && stored && new StoredRows(pages, stored.rootPage);
    this.#hugeColumns = columns.flatMap(({ name: wanted, type }, index) =>
      rows !== undefined && goesInPieces(type)
        ? [{ index, rows, place: stored?.columns.findIndex(({ name }) => name === wanted) ?? 0 }]
        : [],
    );
    const huge = this.#hugeColumns.map(({ index }) => `octet_length(${quoted(columns[index]?.name ?? '')}) > ${HUGE}`);
    const values = columns.map(({ name }, index) => {
      const at = this.#hugeColumns.findIndex(column => column.index === index);
      return at < 0 ? quoted(name) : `CASE WHEN ${huge[at]} THEN NULL ELSE ${quoted(name)} END`;
    });
    // The order keeps SQLite from reading an index in place of the table.
    const range = rowidName === null ? '' : ` WHERE ${rowidName} BETWEEN ? AND ? ORDER BY ${rowidName}`;
    this.#select = db
      .prepare(`SELECT ${[rowidName ?? 'NULL', ...values, ...huge].join()} FROM ${quoted(table)}${range}`)
      .safeIntegers()
      .raw();
    this.#cells = columns.map((column, index) => this.#cell(column.name, index + 1));
    this.#columns = columns.map((column, index) => columnText(column, this.#cells[index] as Cell));
    this.#longColumns = columns.map((column, index) => columnPieces(column, this.#cells[index] as Cell));
  }

  /** The place of the value that was written last, or that could not be written. */
  get place(): { readonly column: string; readonly rowid: string | null } {
    return { column: this.#plan.columns[this.#index]?.name ?? '', rowid: this.#row?.[0]?.toString() ?? null };
  }

  /** The number of rows that were read. */
  get rows(): number {
    return this.#rows;
  }

  get sanitized(): readonly Sanitized[] {
    return [...this.#sanitized.values()];
  }

  /**
   * The lines of the rows between two row ids, or of all rows of a table without row ids. Each piece holds whole rows,
   * except for long rows. Throws a ValueFault.
   */
  *lines(first: bigint, last: bigint): Generator<string> {
    const { rowidName, maxRowBytes } = this.#plan;
    const hasLongRows = maxRowBytes >= LONG;
    let text = '';
    for (const row of this.#select.iterate(...(rowidName === null ? [] : [first, last])) as IterableIterator<Row>) {
      this.#row = row;
      this.#rows += 1;
      if (hasLongRows && (row.some(isLong) || this.#hugeColumns.some((_, at) => this.#isHuge(row, at)))) {
        if (text !== '') yield text;
        text = '';
        yield* this.#longLine(row);
        continue;
      }
      text += this.#line(row);
      if (text.length < PIECE_CHARACTERS) continue;
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

  /** Reads a value of the present row as it is stored, because invalid UTF-8 is replaced in texts that were read. */
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
      // The row is not found when the key itself is invalid UTF-8, which was replaced when it was read.
      if (!(found instanceof Uint8Array)) throw new ValueFault('invalid_utf8');
      return found;
    };
  }
}

function isLong(value: SqliteValue): boolean {
  return (typeof value === 'string' || value instanceof Uint8Array) && value.length >= LONG;
}
