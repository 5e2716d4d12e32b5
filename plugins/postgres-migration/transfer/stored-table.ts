// A table of a file of SQLite as its pages hold it: where its tree begins, and what a row has in which place.
import type { SqliteDatabase } from '#core';

export interface StoredColumn {
  readonly name: string;
  /** Whether it stands for the row id, which is not among the values. */
  readonly isRowid: boolean;
  /** Whether whole numbers mean doubles, which are stored in fewer bytes. */
  readonly isReal: boolean;
  /** Whether a row that ends before it has no value there, and no default. */
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
/** A key that is one column has an index unless it is the row id. */
const KEY_INDEX = "SELECT 1 FROM pragma_index_list(?) WHERE origin = 'pk'";
const REAL = /REAL|FLOA|DOUB/i;

/** Of a table with row ids; undefined for one that is virtual, which has no pages. */
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

/** Whether the primary key of a table with row ids, if it has one, stands for them. */
export function isKeyRowid(db: SqliteDatabase, table: string): boolean {
  return db.prepare(KEY_INDEX).get(table) === undefined;
}
