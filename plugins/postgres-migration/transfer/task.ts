// The task of a transfer, its progress, its result and its errors. Only the task holds a password, and nothing holds a
// value of a row.
import type { ServerAccess } from '../../service-postgres/contract.ts';

export interface TransferTask {
  readonly server: ServerAccess;
  /** They are transferred one after the other. */
  readonly databases: readonly DatabasePair[];
  /** The user that the child becomes once it has opened its files; null for the host's own user. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
  /** How many milliseconds the server may take for one statement, and for a piece of the rows. */
  readonly answerMs: number;
}

/** A SQLite file and the PostgreSQL database that gets its rows, in which the tables exist already. */
export interface DatabasePair {
  /** `main` or `log`. */
  readonly label: string;
  /**
   * The file, to which nothing writes. It lies in a directory of the host's own user, and stays the same byte for byte.
   */
  readonly file: string;
  readonly database: string;
  /** Tables that are left as they are on both sides, beside those of SQLite itself. */
  readonly leftOut: readonly string[];
}

export type TransferStage = 'import' | 'validation';

/** Reported at most every 0.75 s, and at the end of each table. */
export interface TransferProgress {
  readonly stage: TransferStage;
  readonly label: string;
  readonly table: string;
  /** Rows of this table that are done. */
  readonly rows: number;
  /** Whether this stage is done with the table. */
  readonly isTableDone: boolean;
  /** The part of this stage that is done, over all databases, from 0 to 1. It never shrinks within a stage. */
  readonly share: number;
}

export interface TransferResult {
  /** One for each pair, in their order; all were validated. */
  readonly imports: readonly ImportedDatabase[];
  readonly sanitized: readonly SanitizedColumn[];
  /** Sentences for people. */
  readonly warnings: readonly string[];
  /** Seconds of each stage over all databases. */
  readonly timingsS: Readonly<Record<TransferStage, number>>;
}

export interface ImportedDatabase {
  readonly label: string;
  readonly database: string;
  readonly tables: number;
  readonly rows: number;
  readonly sequencesReset: number;
  readonly sequencesValidated: number;
  readonly foreignKeysValidated: number;
  /** Tables whose primary key has the same columns on both sides. The digest of rows covers its values. */
  readonly primaryKeyDigestsValidated: number;
  readonly fullRowDigestsValidated: number;
  /** In the order of the transfer. */
  readonly rowCounts: readonly { readonly table: string; readonly rows: number }[];
}

/** Why a value was changed during the transfer: PostgreSQL cannot hold it as it was. */
export type SanitizingRule = 'empty_text' | 'invalid_utf8' | 'nul' | 'rounded';

export interface SanitizedColumn {
  readonly label: string;
  readonly table: string;
  readonly column: string;
  readonly rule: SanitizingRule;
  readonly rows: number;
}

/** The rule of the transfer that a value, a row or a table breaks. */
export type TransferRule =
  | SanitizingRule
  | 'blob_in_column'
  | 'boolean'
  | 'bytea'
  | 'date'
  | 'enum'
  | 'integer'
  | 'interval'
  | 'json'
  | 'number'
  | 'range'
  | 'time'
  | 'timestamp'
  | 'too_large'
  | 'too_long'
  | 'uuid'
  | 'not_null'
  | 'duplicate_key'
  | 'constraint'
  | 'missing_table'
  | 'missing_column'
  | 'required_column'
  | 'unsupported_type'
  | 'row_count'
  | 'row_digest'
  | 'primary_key'
  | 'foreign_key'
  | 'sequence';

type TransferErrorCode =
  /** The file of SQLite cannot be read, or is damaged. */
  | 'transfer.source'
  /** PostgreSQL cannot be reached, has ended, or failed to execute a statement. */
  | 'transfer.server'
  /** The tables of both sides do not fit together. */
  | 'transfer.schema'
  /** A value that PostgreSQL cannot hold. */
  | 'transfer.value'
  /** The rows that arrived differ from those sent, or break a foreign key or a sequence. */
  | 'transfer.validation'
  /** The child ended before it was done, or gave no sign of life any more. */
  | 'transfer.ended';

export interface TransferError {
  /** One sentence. */
  readonly message: string;
  readonly code: TransferErrorCode;
  readonly stage: TransferStage;
  readonly label?: string;
  readonly table?: string;
  readonly column?: string;
  readonly rule?: TransferRule;
  /** Row id in SQLite, an integer of 64 bits. */
  readonly rowid?: string;
}
