// Reads one table of a SQLite file as `COPY` takes it, in binary form or as lines, a piece at a time: rows that are plain
// together, and all others by the rules of their columns.
import type { SqliteDatabase } from '#core';
import { BinaryRows } from './binary-rows.ts';
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
  readonly #binary: BinaryRows | undefined;
  readonly #pieces: Generator<Uint8Array, undefined>;
  #joinedRows = 0;

  /** `file`: the open file of the database; undefined when its pages cannot be relied on. */
  constructor(db: SqliteDatabase, plan: TablePlan, file?: number) {
    this.#reading = new RowReading(db, plan, file);
    this.#joined = JoinedRows.of(db, plan);
    this.#binary = plan.isBinary ? new BinaryRows(plan.columns) : undefined;
    this.#pieces = this.#read();
  }

  next(): TableChunk {
    try {
      const { value, done } = this.#pieces.next();
      const rows = this.#joinedRows + this.#reading.rows;
      if (done) return { kind: 'end', rows, sanitized: this.#reading.sanitized };
      return { kind: 'rows', bytes: value, rows };
    } catch (error) {
      if (!(error instanceof ValueFault)) throw error;
      return { kind: 'fault', ...this.#reading.place, rule: error.rule };
    }
  }

  close(): void {
    this.#pieces.return(undefined);
  }

  *#read(): Generator<Uint8Array, undefined> {
    if (this.#joined === undefined) yield* this.#oneByOne(FIRST_ROWID, LAST_ROWID);
    else
      for (const { first, last, rows, bytes } of this.#joined.runs()) {
        if (bytes === undefined) yield* this.#oneByOne(first, last);
        else {
          this.#joinedRows += rows;
          yield bytes;
        }
      }
  }

  *#oneByOne(first: bigint, last: bigint): Generator<Uint8Array> {
    for (const lines of this.#reading.lines(first, last)) {
      const bytes = Buffer.from(lines);
      const piece = this.#binary === undefined ? bytes : this.#binary.add(bytes);
      if (piece.length > 0) yield piece;
    }
  }
}
