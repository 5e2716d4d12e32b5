// A table of a SQLite file as its pages hold it: where its tree begins, and which columns a row stores in which order.
import type { SqliteDatabase } from '#core';

export interface StoredColumn {
  readonly name: string;
  /** Whether the column stands for the row id, which is not stored among the values. */
  readonly isRowid: boolean;
  /** Whether the column holds doubles, of which SQLite stores whole numbers as integers. */
  readonly isReal: boolean;
  /** Whether the value is NULL in a row that ends before the column, because the column has no default. */
  readonly isNoneAtEnd: boolean;
}

export interface StoredTable {
  readonly rootPage: number;
  readonly columns: readonly StoredColumn[];
}

/** Columns that are computed when they are read are not stored. */
const COLUMNS = `SELECT name, type, pk > 0 AS is_key, dflt_value IS NULL AND hidden = 0 AS is_none_at_end
  FROM pragma_table_xinfo(?) WHERE hidden <> 2 ORDER BY cid`;
const ROOT = "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = ?";
/** A primary key has an index unless it stands for the row id. */
const KEY_INDEX = "SELECT 1 FROM pragma_index_list(?) WHERE origin = 'pk'";
const REAL = /REAL|FLOA|DOUB/i;

/** `table` must have row ids. undefined for a virtual table, which has no pages. */
export function storedTable(db: SqliteDatabase, table: string): StoredTable | undefined {
  const rootPage = db.prepare(ROOT).pluck().get(table) as number | undefined;
  if (!rootPage) return undefined;
  const columns = db.prepare(COLUMNS).all(table) as {
    name: string;
    type: string;
    is_key: number;
    is_none_at_end: number;
  }[];
  const isRowid = isKeyRowid(db, table);
  return {
    rootPage,
    columns: columns.map(column => ({
      name: column.name,
      isRowid: isRowid && column.is_key === 1,
      isReal: REAL.test(column.type),
      isNoneAtEnd: column.is_none_at_end === 1,
    })),
  };
}

/** Whether the primary key of a table with row ids, if it has one, is the row id. */
export function isKeyRowid(db: SqliteDatabase, table: string): boolean {
  return db.prepare(KEY_INDEX).get(table) === undefined;
}
