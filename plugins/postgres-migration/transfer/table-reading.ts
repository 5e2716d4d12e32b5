// Reads one table of a SQLite file as the lines that `COPY` takes, a piece at a time: rows that are plain together, and
// all others by the rules of their columns.
import type { SqliteDatabase } from '#core';
import type { TablePlan } from './column-plan.ts';
import { JoinedRows } from './joined-rows.ts';
import { RowReading, type Sanitized } from './row-reading.ts';
import type { TransferRule } from './task.ts';
import { ValueFault } from './value-fault.ts';

export type TableChunk =
  /** `rows`: of the table by now. `bytes` stand until the next chunk is read. */
  | { readonly kind: 'rows'; readonly bytes: Uint8Array; readonly rows: number }
  | { readonly kind: 'end'; readonly rows: number; readonly sanitized: readonly Sanitized[] }
  /** A value that its column cannot hold; the reading is over. */
  | { readonly kind: 'fault'; readonly column: string; readonly rule: TransferRule; readonly rowid: string | null };

const [FIRST_ROWID, LAST_ROWID] = [-(2n ** 63n), 2n ** 63n - 1n];

export class TableReading {
  readonly #reading: RowReading;
  readonly #joined: JoinedRows | undefined;
  readonly #pieces: Generator<string | Uint8Array, undefined>;
  #joinedRows = 0;

  /** `file`: the open file of the database; undefined when its pages cannot be relied on. */
  constructor(db: SqliteDatabase, plan: TablePlan, file?: number) {
    this.#reading = new RowReading(db, plan, file);
    this.#joined = JoinedRows.of(db, plan);
    this.#pieces = this.#read();
  }

  next(): TableChunk {
    try {
      const { value, done } = this.#pieces.next();
      const rows = this.#joinedRows + this.#reading.rows;
      if (done) return { kind: 'end', rows, sanitized: this.#reading.sanitized };
      return { kind: 'rows', bytes: typeof value === 'string' ? Buffer.from(value) : value, rows };
    } catch (error) {
      if (!(error instanceof ValueFault)) throw error;
      return { kind: 'fault', ...this.#reading.place, rule: error.rule };
    }
  }

  close(): void {
    this.#pieces.return(undefined);
  }

  *#read(): Generator<string | Uint8Array, undefined> {
    if (this.#joined === undefined) yield* this.#reading.lines(FIRST_ROWID, LAST_ROWID);
    else
      for (const { first, last, rows, lines } of this.#joined.runs()) {
        if (lines === undefined) yield* this.#reading.lines(first, last);
        else {
          this.#joinedRows += rows;
          yield lines;
        }
      }
  }
}
