// Reads one table of a SQLite file as the lines that `COPY` takes, a piece at a time, and digests what it gives.
import { TextDecoder } from 'node:util';
import type { SqliteDatabase } from '#core';
import { prepared } from '#kit/prepared-statement';
import { quoted, type TablePlan } from './column-plan.ts';
import { type Cell, type ColumnText, columnText, type SqliteValue } from './column-text.ts';
import { RowDigest, type RowsDigest } from './row-digest.ts';
import type { SanitizingRule, TransferRule } from './task.ts';
import { ValueFault } from './value-fault.ts';

/** Of a chunk; a longer row is one of its own. */
const CHUNK_CHARACTERS = 128 * 1_024;

export interface Sanitized {
  readonly column: string;
  readonly rule: SanitizingRule;
  readonly rows: number;
}

export type TableChunk =
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
  /** Of the texts in the file. */
  readonly #decoder: TextDecoder;
  readonly #digest = new RowDigest();
  readonly #sanitized = new Map<string, Sanitized>();
  #row: Row | undefined;

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
    this.#columns = columns.map((column, index) => columnText(column, this.#cell(column.name, index + 1)));
  }

  next(): TableChunk {
    let text = '';
    let rows = 0;
    while (text.length < CHUNK_CHARACTERS) {
      const { value: row, done } = this.#rows.next();
      if (done) break;
      this.#row = row as Row;
      const line = this.#line(this.#row);
      if (typeof line !== 'string') return line;
      this.#digest.add(line);
      text += line;
      rows += 1;
    }
    if (rows > 0) return { kind: 'rows', bytes: Buffer.from(text), rows };
    return { kind: 'end', digest: this.#digest.value, sanitized: [...this.#sanitized.values()] };
  }

  close(): void {
    this.#rows.return?.();
  }

  #line(row: Row): string | TableChunk {
    let line = '';
    let index = 0;
    try {
      for (const write of this.#columns) {
        const text = write(row[index + 1] as SqliteValue);
        line = index === 0 ? text : `${line}\t${text}`;
        index += 1;
      }
    } catch (error) {
      if (!(error instanceof ValueFault)) throw error;
      const column = this.#plan.columns[index]?.name ?? '';
      this.close();
      return { kind: 'fault', column, rule: error.rule, rowid: row[0]?.toString() ?? null };
    }
    return `${line}\n`;
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
