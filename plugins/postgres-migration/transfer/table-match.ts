// Decides how the tables of both sides fit together, before anything is written. Names are compared exactly.
import type { TablePlan } from './column-plan.ts';
import { goesInPieces } from './column-text.ts';
import { isPlain } from './plain-rows.ts';
import type { Source } from './source.ts';
import type { SourceTable } from './source-worker.ts';
import type { TargetColumn, TargetTable } from './target-schema.ts';
import type { DatabasePair } from './task.ts';
import { faultIn, shown, type TransferFault } from './transfer-fault.ts';

/** Larger rows are sent as text. In binary form the length stands before a value, so a row is made as a whole. */
const MAX_BINARY_ROW_BYTES = 1_024 * 1_024;

export interface MatchedTable {
  readonly plan: TablePlan;
  readonly rows: number;
  /** Whether the primary keys of both sides have the same columns. */
  readonly hasSameKey: boolean;
  readonly lastRowid: string | null;
  /** The column that stands for the row id of SQLite; null when none does. */
  readonly rowidColumn: string | null;
  /** Whether the rows may be written with `FREEZE`. */
  readonly canBeFrozen: boolean;
}

export interface Match {
  /** The tables to copy. */
  readonly tables: readonly MatchedTable[];
  readonly warnings: readonly string[];
}

/** Throws a TransferFault when something would be lost or could not be written. */
export async function matchTables(
  { label, leftOut }: DatabasePair,
  source: Source,
  given: readonly SourceTable[],
  wanted: readonly TargetTable[],
): Promise<Match> {
  const tables: MatchedTable[] = [];
  const warnings: string[] = [];
  const targets = new Map(wanted.map(table => [table.name, table]));
  for (const table of given) {
    if (leftOut.includes(table.name)) continue;
    const found = targets.get(table.name);
    if (found !== undefined) {
      tables.push(await matchTable(label, source, table, found, warnings));
      continue;
    }
    if (await source.holdsData(table.name, null))
      throw schemaFault(label, table.name, 'missing_table', 'PostgreSQL has no such table, and it holds rows');
    warnings.push(`The table ${shown(table.name)} is empty and exists only in SQLite; it was left out.`);
  }
  return { tables, warnings };
}

async function matchTable(
  label: string,
  source: Source,
  table: SourceTable,
  target: TargetTable,
  warnings: string[],
): Promise<MatchedTable> {
  const { name, rowidName, primaryKey } = table;
  const { rows, maxRowBytes, oversized } = await source.measure(
    table,
    target.columns.filter(({ type }) => type !== null && goesInPieces(type)).map(column => column.name),
  );
  if (oversized !== null) throw oversizedRow(label, name, oversized.rowid);
  const copied = copiedColumns(label, table, target);
  await leaveOutColumns(label, source, table, target, warnings);
  const columns = copied.map(({ name: column, type, typeName, isNullable, isKey }) => {
    if (type === null)
      throw schemaFault(label, name, 'unsupported_type', `no rule is known for the type ${shown(typeName)}`, column);
    return { name: column, type, isNullable, isKey };
  });
  const hasSameKey = primaryKey.length > 0 && samePlaces(primaryKey, target.primaryKey);
  if (primaryKey.length > 0 && target.primaryKey.length > 0 && !hasSameKey)
    throw schemaFault(label, name, 'primary_key', 'the primary keys of SQLite and PostgreSQL have other columns');
  const isBinary = maxRowBytes <= MAX_BINARY_ROW_BYTES && columns.every(({ type }) => isPlain(type));
  return {
    plan: { table: name, columns, rowidName, primaryKey, maxRowBytes, isBinary },
    rows,
    hasSameKey,
    lastRowid: table.lastRowid,
    rowidColumn: table.rowidColumn,
    canBeFrozen: target.canBeFrozen,
  };
}

function oversizedRow(label: string, table: string, rowid: string | null): TransferFault {
  const place = rowid === null ? {} : { rowid };
  return faultIn(
    { code: 'transfer.value', stage: 'import', label, table, rule: 'too_large', ...place },
    'the row is larger than can be transferred; remove it or make it smaller',
  );
}

/** The columns that both sides have. Throws a TransferFault when PostgreSQL needs another one. */
function copiedColumns(label: string, { name, columns }: SourceTable, target: TargetTable): TargetColumn[] {
  const written = target.columns.filter(({ isGenerated }) => !isGenerated);
  const required = written.find(
    ({ name: column, isNullable, hasDefault }) => !columns.includes(column) && !isNullable && !hasDefault,
  );
  if (required === undefined) return written.filter(column => columns.includes(column.name));
  throw schemaFault(
    label,
    name,
    'required_column',
    'PostgreSQL needs a value that SQLite does not have',
    required.name,
  );
}

/** Warns of columns that only SQLite has. Throws a TransferFault when one of them holds data. */
async function leaveOutColumns(
  label: string,
  source: Source,
  { name, columns }: SourceTable,
  target: TargetTable,
  warnings: string[],
): Promise<void> {
  for (const column of columns) {
    if (target.columns.some(other => other.name === column)) continue;
    if (await source.holdsData(name, column))
      throw schemaFault(label, name, 'missing_column', 'PostgreSQL has no such column, and it holds data', column);
    warnings.push(
      `The column ${shown(column)} of the table ${shown(name)} is empty and exists only in SQLite; it was left out.`,
    );
  }
}

function samePlaces(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, index) => name === other[index]);
}

function schemaFault(
  label: string,
  table: string,
  rule: 'missing_table' | 'missing_column' | 'required_column' | 'unsupported_type' | 'primary_key',
  words: string,
  column?: string,
): TransferFault {
  const place = column === undefined ? {} : { column };
  const advice = 'the installed program and its SQLite database do not fit together';
  return faultIn({ code: 'transfer.schema', stage: 'import', label, table, rule, ...place }, `${words}; ${advice}`);
}
