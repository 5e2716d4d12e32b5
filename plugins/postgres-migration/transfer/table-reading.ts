// Reads one table of a SQLite file as `COPY` takes it, in binary form or as lines, a piece at a time: plain rows
// directly from the pages, and all others by the rules of their columns.
import type { SqliteDatabase } from '#core';
import { BinaryRows } from './binary-rows.ts';
import type { TablePlan } from './column-plan.ts';
import { type Pages, rowidIn, type TreePage } from './pages.ts';
import { PlainRows } from './plain-rows.ts';
import { RowReading, type Sanitized } from './row-reading.ts';
import { SpentMemory } from './spent-memory.ts';
import { type StoredTable, storedTable } from './stored-table.ts';
import type { TransferRule } from './task.ts';
import { ValueFault } from './value-fault.ts';

export type TableChunk =
  /** `rows` counts the rows of the table so far. `bytes` are valid until the next chunk is read. */
  | { readonly kind: 'rows'; readonly bytes: Uint8Array; readonly rows: number }
  | { readonly kind: 'end'; readonly rows: number; readonly sanitized: readonly Sanitized[] }
  /** A value that its column cannot hold; the reading is over. */
  | { readonly kind: 'fault'; readonly column: string; readonly rule: TransferRule; readonly rowid: string | null };

const [FIRST_ROWID, LAST_ROWID] = [-(2n ** 63n), 2n ** 63n - 1n];

const UTF8 = 'UTF-8';

export class TableReading {
  readonly #reading: RowReading;
  readonly #binary: BinaryRows | undefined;
  readonly #spent: SpentMemory;
  readonly #pieces: Generator<Uint8Array, undefined>;
  #plainRows = 0;

  /** `pages`: those of the file; undefined when a write-ahead log has newer ones. */
  constructor(db: SqliteDatabase, plan: TablePlan, pages?: Pages) {
    this.#reading = new RowReading(db, plan, pages);
    this.#binary = plan.isBinary ? new BinaryRows(plan.columns) : undefined;
    this.#spent = new SpentMemory(plan);
    const stored = storedPlainly(db, plan);
    this.#pieces = pages && stored ? this.#fromPages(pages, stored, plan) : this.#oneByOne(FIRST_ROWID, LAST_ROWID);
  }

  /** How many rows were taken from the pages alone. */
  get plainRows(): number {
    return this.#plainRows;
  }

  next(): TableChunk {
    try {
      const { value, done } = this.#pieces.next();
      const rows = this.#plainRows + this.#reading.rows;
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

  *#fromPages(pages: Pages, { rootPage, columns }: StoredTable, plan: TablePlan): Generator<Uint8Array, undefined> {
    const plain = new PlainRows(pages, plan, columns);
    let last: bigint | undefined;
    for (const leaf of pages.leaves(rootPage)) {
      if (leaf.cells === 0) continue;
      if (last !== undefined && rowidIn(leaf, 0) <= last) throw new Error('the rows of a table are in no order');
      last = rowidIn(leaf, leaf.cells - 1);
      yield* this.#fromLeaf(plain, leaf, last);
    }
    if (plain.bytes > 0) yield plain.take();
  }

  /** `last` is the row id of the last row of the leaf. */
  *#fromLeaf(plain: PlainRows, leaf: TreePage, last: bigint): Generator<Uint8Array, undefined> {
    for (let cell = 0; cell < leaf.cells; ) {
      const next = plain.add(leaf, cell);
      this.#plainRows += next - cell;
      cell = next;
      if (cell === leaf.cells) return;
      const { isFull } = plain;
      if (plain.bytes > 0) yield plain.take();
      if (isFull) continue;
      // A row that is not plain is seldom alone, so the rest of the leaf is read row by row.
      yield* this.#oneByOne(rowidIn(leaf, cell), last);
      return;
    }
  }

  *#oneByOne(first: bigint, last: bigint): Generator<Uint8Array, undefined> {
    for (const lines of this.#reading.lines(first, last)) {
      const bytes = Buffer.from(lines);
      const piece = this.#binary === undefined ? bytes : this.#binary.add(bytes);
      if (piece.length > 0) yield piece;
      this.#spent.add(bytes.length);
    }
  }
}

/** undefined for a table whose rows cannot be plain. */
function storedPlainly(
  db: SqliteDatabase,
  { table, columns, rowidName, isBinary }: TablePlan,
): StoredTable | undefined {
  if (!isBinary || rowidName === null || db.pragma('encoding', { simple: true }) !== UTF8) return undefined;
  const stored = storedTable(db, table);
  const isStored = (column: string) => stored?.columns.some(({ name }) => name === column);
  return columns.every(({ name }) => isStored(name)) ? stored : undefined;
}
