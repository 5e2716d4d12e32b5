// A file of SQLite that is transferred: one read transaction in a thread, which sees the same rows from its beginning
// to its end.
import path from 'node:path';
import type { Database, StatementArgs, StatementName, StatementResult } from '#core';
import { errorText } from '#kit/error-text';
import { SqliteThread } from '#kit/sqlite-thread';
import type { TablePlan } from './column-plan.ts';
import { SharedRows } from './shared-rows.ts';
import type * as Statements from './source-worker.ts';
import type { SourceTable, TableSize } from './source-worker.ts';
import { SpentMemory } from './spent-memory.ts';
import type { TableChunk } from './table-reading.ts';
import type { DatabasePair } from './task.ts';
import { TransferFault } from './transfer-fault.ts';

type Module = typeof Statements;

/** Deadline of one call, such as one that counts a table or reads a chunk. */
const CALL_MS = 900_000;
const BUSY_TIMEOUT_MS = 5_000;
/**
 * The largest row that is transferred, without its huge values. It is held in memory, where a text that is not Latin-1
 * takes twice as much.
 */
const MAX_ROW_BYTES = 4 * 1_024 * 1_024;
/**
 * The largest value that is transferred. PostgreSQL takes no line of a gigabyte, and a blob is written with two
 * characters for each byte.
 */
const MAX_VALUE_BYTES = 256 * 1_024 * 1_024;
/** The largest answer of the thread: a chunk, or the columns of all tables. */
const MAX_ANSWER_BYTES = 16 * 1_024 * 1_024;
const MEMORY_MB = 64;

export class Source {
  readonly #pair: DatabasePair;
  readonly #thread: Database<Module>;
  readonly #shared = new SharedRows();

  constructor(pair: DatabasePair) {
    this.#pair = pair;
    this.#thread = new SqliteThread(
      {
        file: pair.file,
        root: path.dirname(pair.file),
        statements: statementsUrl(),
        keepModes: true,
        readOnly: true,
        synchronous: 'normal',
        onCorrupt: 'refuse',
        busyTimeoutMs: BUSY_TIMEOUT_MS,
        pageBytes: undefined,
        canShrink: false,
        maxBytes: MAX_ANSWER_BYTES,
        memoryMb: MEMORY_MB,
        shared: this.#shared.memory,
      },
      // The thread ends with the program. Nothing is written, so an unclean end loses nothing.
      { warn: () => undefined, closed: () => undefined },
    );
  }

  begin(): Promise<SourceTable[]> {
    return this.#call('begin', { path: this.#pair.file });
  }

  /** `inPieces`: the columns whose huge values are read in pieces. */
  measure({ name, columns, rowidName }: SourceTable, inPieces: readonly string[]): Promise<TableSize> {
    return this.#call('measure', {
      table: name,
      columns,
      inPieces,
      rowidName,
      maxRowBytes: MAX_ROW_BYTES,
      maxValueBytes: MAX_VALUE_BYTES,
    });
  }

  /** `column` null: any row. */
  holdsData(table: string, column: string | null): Promise<boolean> {
    return this.#call('holdsData', { table, column });
  }

  /**
   * The chunks of a table. The next chunk is read while the present one is used, which is valid until the next is asked
   * for.
   */
  async *chunks(plan: TablePlan): AsyncGenerator<TableChunk> {
    await this.#call('openTable', plan);
    const spent = new SpentMemory(plan);
    let next = this.#call('readChunk', undefined);
    for (;;) {
      const chunk = await next;
      if (chunk.kind === 'rows' || chunk.kind === 'left') {
        next = this.#call('readChunk', undefined);
        // A caller that stops reading never awaits it.
        next.catch(() => undefined);
      }
      if (chunk.kind === 'left')
        yield { kind: 'rows', bytes: this.#shared.at(chunk.at, chunk.bytes), rows: chunk.rows };
      else {
        yield chunk;
        if (chunk.kind !== 'rows') return;
        spent.add(chunk.bytes.length);
      }
    }
  }

  /** The row id of the row at a place from 0 on, in the order of `chunks`; undefined when it is not known. */
  async rowidAt({ table, rowidName }: TablePlan, place: number): Promise<string | undefined> {
    if (rowidName === null) return undefined;
    return (await this.#call('rowidAt', { table, rowidName, place })) ?? undefined;
  }

  /** The row id of a row with these texts; undefined when it is not known. */
  async rowidOf(
    { table, rowidName }: TablePlan,
    values: readonly { readonly column: string; readonly text: string }[],
  ): Promise<string | undefined> {
    if (rowidName === null) return undefined;
    return (await this.#call('rowidOf', { table, rowidName, values })) ?? undefined;
  }

  close(): Promise<void> {
    return this.#thread.close();
  }

  async #call<Name extends StatementName<Module>>(
    name: Name,
    args: StatementArgs<Module, Name>,
  ): Promise<StatementResult<Module, Name>> {
    try {
      return await this.#thread.call(name, args, { timeoutMs: CALL_MS });
    } catch (error) {
      const { label } = this.#pair;
      const message = `The SQLite database cannot be read: ${errorText(error)}`;
      throw new TransferFault({ message, code: 'transfer.source', stage: 'import', label }, error);
    }
  }
}

function statementsUrl(): string {
  const { pathname } = new URL(import.meta.url);
  return new URL(`source-worker${path.extname(pathname)}`, import.meta.url).href;
}
