// One pair of databases: matched, imported and validated. A table is imported in one transaction, so that a failure
// names its table and leaves no table in part.
import { createHash } from 'node:crypto';
import { BINARY_END, BINARY_START } from './binary-rows.ts';
import { quoted, type TablePlan } from './column-plan.ts';
import { checkForeignKeys } from './foreign-key-check.ts';
import { buildIndexes, holdIndexes } from './later-indexes.ts';
import { rejectedRow, valueWords } from './rejected-row.ts';
import { RowDigest } from './row-digest.ts';
import { Source } from './source.ts';
import type { SourceTable } from './source-worker.ts';
import { SpentMemory } from './spent-memory.ts';
import { type MatchedTable, matchTables } from './table-match.ts';
import type { TableChunk } from './table-reading.ts';
import { Target } from './target.ts';
import { readSequences, readTables, type Sequence } from './target-schema.ts';
import type { DatabasePair, ImportedDatabase, SanitizedColumn, TransferTask } from './task.ts';
import { faultIn, type TransferFault } from './transfer-fault.ts';

const AGAIN = 'try again, and keep every other program away from the database';

/** With fewer rows it is not worth truncating the table once more for `FREEZE`, which makes its files anew. */
const FROZEN_FROM_ROWS = 10_000;

/** Called with the number of rows of the table that are done. */
export type Step = (table: string, rows: number, isTableDone: boolean) => void;

/** The rows of a table that were sent. */
interface SentRows {
  readonly rows: number;
  readonly bytes: number;
  /** SHA-256 of all bytes that were sent. */
  readonly hash: string;
}

export class DatabaseTransfer {
  readonly pair: DatabasePair;
  readonly sanitized: SanitizedColumn[] = [];
  readonly warnings: string[] = [];
  readonly #source: Source;
  readonly #sent = new Map<string, SentRows>();
  #given: readonly SourceTable[] = [];
  #target: Target | undefined;
  #connect: () => Promise<Target> = () => Promise.reject(new Error('the databases are not matched yet'));
  #emptied: readonly string[] = [];
  #tables: readonly MatchedTable[] = [];
  #sequences: readonly (Sequence & { readonly next: bigint })[] = [];

  constructor(pair: DatabasePair) {
    this.pair = pair;
    this.#source = new Source(pair);
  }

  /** Opens the file, which is not opened again. Rejects with a TransferFault, as all methods of this class do. */
  async begin(): Promise<void> {
    this.#given = await this.#source.begin();
  }

  /** Connects, and rejects when the tables do not fit together. Writes nothing. */
  async match(task: TransferTask): Promise<void> {
    this.#connect = () => Target.connect(task, this.pair);
    this.#target = await this.#connect();
    const tables = await readTables(this.#target);
    const wanted = tables.filter(({ name }) => !this.pair.leftOut.includes(name));
    const match = await matchTables(this.pair, this.#source, this.#given, wanted);
    this.#tables = match.tables;
    this.warnings.push(...match.warnings);
    this.#emptied = wanted.map(({ name }) => quoted(name));
  }

  get rows(): number {
    return this.#tables.reduce((sum, { rows }) => sum + rows, 0);
  }

  async import(step: Step): Promise<void> {
    // Tables that refer to one another can only be emptied together.
    if (this.#emptied.length > 0) await this.#open.query(`TRUNCATE ${this.#emptied.join()}`);
    for (const table of this.#tables) await this.#importTable(table, step);
    this.#sequences = await this.#resetSequences();
  }

  async validate(step: Step): Promise<ImportedDatabase> {
    const target = this.#open;
    target.stage = 'validation';
    await Promise.all([this.#analyse(), this.#compareAll(step)]);
    const plans = this.#tables.map(({ plan }) => plan);
    const foreignKeys = await checkForeignKeys({ pair: this.pair, target, source: this.#source, plans });
    await this.#checkSequences();
    // With `synchronous_commit` off, commits may be in memory alone until here.
    await target.query('CHECKPOINT');
    const rowCounts = this.#tables.map(({ plan: { table } }) => ({
      table,
      rows: this.#sent.get(table)?.rows ?? 0,
    }));
    return {
      label: this.pair.label,
      database: this.pair.database,
      tables: this.#tables.length,
      rows: rowCounts.reduce((sum, { rows }) => sum + rows, 0),
      sequencesReset: this.#sequences.length,
      sequencesValidated: this.#sequences.length,
      foreignKeysValidated: foreignKeys,
      primaryKeyDigestsValidated: this.#tables.filter(({ hasSameKey }) => hasSameKey).length,
      fullRowDigestsValidated: this.#sent.size,
      rowCounts,
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.#source.close(), this.#target?.close()]);
  }

  get #open(): Target {
    if (this.#target === undefined) throw new Error('the databases are not matched yet');
    return this.#target;
  }

  async #importTable({ plan, rows: expected, canBeFrozen, rowidColumn }: MatchedTable, step: Step): Promise<void> {
    const { table, columns } = plan;
    const { label } = this.pair;
    if (columns.length === 0) {
      if (expected > 0)
        throw faultIn(
          { code: 'transfer.schema', stage: 'import', label, table, rule: 'missing_column' },
          'PostgreSQL has none of its columns',
        );
      return;
    }
    let end: Extract<TableChunk, { kind: 'end' }> | undefined;
    let bytes = 0;
    const hash = createHash('sha256');
    const source = this.#source;
    const sent = (piece: Uint8Array): Uint8Array => {
      bytes += piece.length;
      hash.update(piece);
      return piece;
    };
    async function* rows(): AsyncGenerator<Uint8Array> {
      if (plan.isBinary) yield sent(BINARY_START);
      for await (const chunk of source.chunks(plan)) {
        if (chunk.kind === 'rows') {
          yield sent(chunk.bytes);
          step(table, chunk.rows, false);
        } else if (chunk.kind === 'fault') throw valueFault(label, table, chunk);
        else end = chunk;
      }
      if (plan.isBinary) yield sent(BINARY_END);
    }
    // Rows written with `FREEZE` get no hint bits at their first read, which would write their pages again.
    const isFrozen = canBeFrozen && expected >= FROZEN_FROM_ROWS;
    const copy = `COPY ${quoted(table)} (${listed(plan)}) FROM STDIN${formOf(plan, isFrozen)}`;
    const target = this.#open;
    try {
      if (isFrozen) {
        // `FREEZE` needs a table truncated in the same transaction. An error ends the session and so the transaction.
        await target.query(`BEGIN; TRUNCATE ${quoted(table)}`);
        const indexes = await holdIndexes(target, table, rowidColumn);
        await target.copyIn(copy, rows());
        await buildIndexes(target, indexes);
        await target.query('COMMIT');
      } else await target.copyIn(copy, rows());
    } catch (error) {
      throw await rejectedRow(error, plan, source, label);
    }
    if (end === undefined) throw new Error(`the rows of ${table} have no end`);
    this.#sent.set(table, { rows: end.rows, bytes, hash: hash.digest('hex') });
    this.sanitized.push(...end.sanitized.map(one => ({ label, table, ...one })));
    step(table, end.rows, true);
  }

  /** Runs in a session of its own, so that the server analyses the tables while it sends their rows. */
  async #analyse(): Promise<void> {
    const session = await this.#connect();
    session.stage = 'validation';
    try {
      await session.query('ANALYZE');
    } finally {
      await session.close();
    }
  }

  async #compareAll(step: Step): Promise<void> {
    for (const { plan, rows } of this.#tables) await this.#compare(plan, rows, step);
  }

  /**
   * Checks that both sides have the same rows. They come back in the order sent, unless something has moved them in
   * PostgreSQL.
   */
  async #compare(plan: TablePlan, expected: number, step: Step): Promise<void> {
    const { table } = plan;
    const sent = this.#sent.get(table);
    if (sent === undefined) return;
    const hash = createHash('sha256');
    let bytes = 0;
    await this.#arrived(plan, sent.bytes, piece => {
      bytes += piece.length;
      hash.update(piece);
      step(table, Math.floor((sent.rows * bytes) / sent.bytes), false);
    });
    const isSame = bytes === sent.bytes && hash.digest('hex') === sent.hash && sent.rows === expected;
    if (!isSame) await this.#compareInAnyOrder({ ...plan, isBinary: false }, expected);
    step(table, expected, true);
  }

  /**
   * Reads both sides again, as lines. Rejects with a TransferFault when one side has a row that the other does not
   * have.
   */
  async #compareInAnyOrder(plan: TablePlan, expected: number): Promise<void> {
    const { table } = plan;
    const fault = { code: 'transfer.validation', stage: 'validation', label: this.pair.label, table } as const;
    const given = new RowDigest();
    let bytes = 0;
    for await (const chunk of this.#source.chunks(plan)) {
      if (chunk.kind !== 'rows') continue;
      given.add(chunk.bytes);
      bytes += chunk.bytes.length;
    }
    const arrived = new RowDigest();
    await this.#arrived(plan, bytes, piece => arrived.add(piece));
    const [one, other] = [given.value, arrived.value];
    if (other.rows !== one.rows || other.rows !== expected)
      throw faultIn(
        { ...fault, rule: 'row_count' },
        `SQLite has ${expected} rows and PostgreSQL ${other.rows}; ${AGAIN}`,
      );
    if (other.sum !== one.sum || other.xor !== one.xor)
      throw faultIn(
        { ...fault, rule: 'row_digest' },
        `what arrived in PostgreSQL differs from what was sent; ${AGAIN}`,
      );
  }

  /** Hands the rows of a table in PostgreSQL to `take`. Rejects with a TransferFault when they exceed `sentBytes`. */
  #arrived(plan: TablePlan, sentBytes: number, take: (rows: Uint8Array) => void): Promise<void> {
    const { table, columns } = plan;
    // A `real` is read as a double, because its own text differs from that of the double that was sent.
    const selected = columns.map(({ name, type }) =>
      type.kind === 'float' && type.bits === 32 ? `${quoted(name)}::float8` : quoted(name),
    );
    const spent = new SpentMemory(plan);
    let bytes = 0;
    const rows = `SELECT ${selected.join()} FROM ${quoted(table)}`;
    return this.#open.copyOut(`COPY (${rows}) TO STDOUT${formOf(plan, false)}`, piece => {
      bytes += piece.length;
      spent.add(piece.length);
      // Equal rows have equal length, and a faulty server might send rows without end.
      if (bytes > sentBytes)
        throw faultIn(
          { code: 'transfer.validation', stage: 'validation', label: this.pair.label, table, rule: 'row_digest' },
          `PostgreSQL has more than was sent; ${AGAIN}`,
        );
      take(piece);
    });
  }

  /** Sets each sequence above the values of its column and above every row id that SQLite has given out. */
  async #resetSequences(): Promise<(Sequence & { next: bigint })[]> {
    const reset = [];
    for (const sequence of await readSequences(this.#open)) {
      if (this.pair.leftOut.includes(sequence.table)) continue;
      const next = await this.#nextValue(sequence);
      if (next > BigInt(sequence.greatest)) throw this.#sequenceFault(sequence);
      await this.#open.query('SELECT setval($1::oid::regclass, $2::int8, false)', [sequence.oid, String(next)]);
      reset.push({ ...sequence, next });
    }
    return reset;
  }

  async #nextValue({ table, column }: Sequence): Promise<bigint> {
    const greatest = `SELECT coalesce(max(${quoted(column)})::int8, 0)::text AS value FROM ${quoted(table)}`;
    const [row] = await this.#open.query<{ value: string }>(greatest);
    const { lastRowid = null } = this.#tables.find(({ plan }) => plan.table === table) ?? {};
    const values = [BigInt(row?.value ?? 0), BigInt(lastRowid ?? 0), 0n];
    return values.reduce((one, other) => (one > other ? one : other)) + 1n;
  }

  #sequenceFault({ table, column }: Sequence): TransferFault {
    const { label } = this.pair;
    return faultIn(
      { code: 'transfer.value', stage: 'import', label, table, column, rule: 'range' },
      'the next number would be out of the range of the column (rule range); lower the greatest one in SQLite',
    );
  }

  async #checkSequences(): Promise<void> {
    for (const { quotedName, table, column, next } of this.#sequences) {
      const state = `SELECT last_value + is_called::int AS next FROM ${quotedName}`;
      const [row] = await this.#open.query<{ next: string }>(state);
      if (row !== undefined && BigInt(row.next) >= next) continue;
      const { label } = this.pair;
      throw faultIn(
        { code: 'transfer.validation', stage: 'validation', label, table, column, rule: 'sequence' },
        'its sequence would give out a value that a row has; try again',
      );
    }
  }
}

function listed({ columns }: TablePlan): string {
  return columns.map(({ name }) => quoted(name)).join();
}

function formOf({ isBinary }: TablePlan, isFrozen: boolean): string {
  return ` WITH (FORMAT ${isBinary ? 'binary' : 'text'}${isFrozen ? ', FREEZE' : ''})`;
}

function valueFault(
  label: string,
  table: string,
  { column, rule, rowid }: Extract<TableChunk, { kind: 'fault' }>,
): TransferFault {
  const place = { table, column, rule, ...(rowid === null ? {} : { rowid }) };
  return faultIn({ code: 'transfer.value', stage: 'import', label, ...place }, valueWords(rule));
}
