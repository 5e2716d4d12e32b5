// How the rows of one table are transferred: which columns are copied, and what each may hold in PostgreSQL.

export type ColumnType =
  | { readonly kind: 'boolean' | 'bytea' | 'date' | 'uuid' | 'json' | 'jsonb' }
  | { readonly kind: 'integer'; readonly bits: 16 | 32 | 64 }
  | { readonly kind: 'float'; readonly bits: 32 | 64 }
  /** `limit` is null for a column that keeps as many digits as a value has. */
  | { readonly kind: 'numeric'; readonly limit: { readonly precision: number; readonly scale: number } | null }
  /** `isPadded`: padded to its length with blanks, as `character` is. */
  | { readonly kind: 'text'; readonly maxCharacters: number | null; readonly isPadded: boolean }
  | { readonly kind: 'timestamp'; readonly fractionDigits: number; readonly hasZone: boolean }
  | { readonly kind: 'time' | 'interval'; readonly fractionDigits: number }
  | { readonly kind: 'enum'; readonly labels: readonly string[] };

export interface ColumnPlan {
  readonly name: string;
  readonly type: ColumnType;
  readonly isNullable: boolean;
  /** Whether it belongs to a primary key or a unique index, so that no value of it may be changed. */
  readonly isKey: boolean;
}

export interface TablePlan {
  readonly table: string;
  readonly columns: readonly ColumnPlan[];
  /**
   * The name under which row ids are read; null for a table without row ids, or whose columns have taken all such
   * names.
   */
  readonly rowidName: string | null;
  /** The columns of its primary key in SQLite, which find a row that has no row id. */
  readonly primaryKey: readonly string[];
  /** No row has more bytes as SQLite stores it. */
  readonly maxRowBytes: number;
  /** Whether the rows are sent in binary form; otherwise they are sent as lines of text. */
  readonly isBinary: boolean;
}

/** Values of more bytes are read in pieces. */
export const HUGE = 256 * 1_024;

/** A name in a statement of SQLite or PostgreSQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
