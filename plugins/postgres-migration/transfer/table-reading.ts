// Reads one table of a SQLite file as the lines that `COPY` takes, a piece at a time, and digests what it gives.
import { TextDecoder } from 'node:util';
import type { SqliteDatabase } from '#core';
import { prepared } from '#kit/prepared-statement';
import { quoted, type TablePlan } from './column-plan.ts';
import {
  type Cell,
  type ColumnPieces,
  type ColumnText,
  columnPieces,
  columnText,
  LONG,
  type SqliteValue,
} from './column-text.ts';
import { RowDigest, type RowsDigest } from './row-digest.ts';
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

type Row = readonly [rowid: bigint | null, ...values: SqliteValue[]];

export class TableReading {
  readonly #db: SqliteDatabase;
  readonly #plan: TablePlan;
  readonly #rows: IterableIterator<Row>;
  readonly #columns: readonly ColumnText[];
  readonly #longColumns: readonly ColumnPieces[];
  readonly #pieces: Generator<string, undefined>;
  /** Of the texts in the file. */
  readonly #decoder: TextDecoder;
  readonly #digest = new RowDigest();
  readonly #sanitized = new Map<string, Sanitized>();
  #row: Row | undefined;
  /** Of the column that is written. */
  #index = 0;

  constructor(db: SqliteDatabase, plan: TablePlan) {
    this.#db = db;
    this.#plan = plan;
    // Asked for first, because SQLite answers no pragma while rows are read.
    const encoding = db.pragma('encoding', { simple: true }) as string;
    this.#decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
    const { table, columns, rowidName } = plan;
    const selected = [rowidName ?? 'NULL', ...columns.map(({ name }) => quoted(name))].join();
    // The order keeps SQLite from reading an index in place of the table.
    const order = rowidName === null ? '' : ` ORDER BY ${rowidName}`;
    const select = db.prepare(`SELECT ${selected} FROM ${quoted(table)}${order}`);
    this.#rows = select.safeIntegers().raw().iterate() as IterableIterator<Row>;
    const cells = columns.map((column, index) => ({ column, cell: this.#cell(column.name, index + 1) }));
    this.#columns = cells.map(({ column, cell }) => columnText(column, cell));
    this.#longColumns = cells.map(({ column, cell }) => columnPieces(column, cell));
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
      if (this.#plan.hasLongRows && row.some(isLong)) {
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
      yield* pieces(row[this.#index + 1] as SqliteValue);
      this.#index += 1;
    }
    yield '\n';
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

function isLong(value: SqliteValue): boolean {
  return (typeof value === 'string' || value instanceof Uint8Array) && value.length >= LONG;
}
