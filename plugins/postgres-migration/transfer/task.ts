// What a transfer is told, what it tells meanwhile, and what it ends with. Nothing of it but the task holds a password,
// and nothing at all a value of a row.
import type { ServerAccess } from '../../service-postgres/contract.ts';

export interface TransferTask {
  readonly server: ServerAccess;
  /** They are transferred one after the other. */
  readonly databases: readonly DatabasePair[];
  /** Who the child becomes once it has opened its files; null for the host's own user. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
  /** How long the server may take for one statement, and for a piece of the rows. */
  readonly answerMs: number;
}

/** A file of SQLite, and the database of PostgreSQL whose tables exist and get its rows. */
export interface DatabasePair {
  /** `main` or `log`. */
  readonly label: string;
  /** Nobody writes to it. It lies in a directory of the host's own user, and stays the same byte for byte. */
  readonly file: string;
  readonly database: string;
  /** Tables that are left as they are on both sides, beside those of SQLite itself. */
  readonly leftOut: readonly string[];
}

export type TransferStage = 'import' | 'validation';

/** Told at most every 0.75 s, and at the end of each table. */
export interface TransferProgress {
  readonly stage: TransferStage;
  readonly label: string;
  readonly table: string;
  /** Of this table, by now. */
  readonly rows: number;
  /** Whether all that this stage does with the table is done. */
  readonly isTableDone: boolean;
  /** Of this stage over all databases, from 0 to 1. It never shrinks within a stage. */
  readonly share: number;
}

export interface TransferResult {
  /** One for each pair, in their order; all hold. */
  readonly imports: readonly ImportedDatabase[];
  readonly sanitized: readonly SanitizedColumn[];
  /** Sentences. */
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
  /** Tables whose primary key has the same columns on both sides, the values of which the digest of rows covers. */
  readonly primaryKeyDigestsValidated: number;
  readonly fullRowDigestsValidated: number;
  /** In the order of the transfer. */
  readonly rowCounts: readonly { readonly table: string; readonly rows: number }[];
}

/** What was changed on the way because PostgreSQL cannot hold it. */
export type SanitizingRule = 'empty_text' | 'invalid_utf8' | 'nul' | 'rounded';

export interface SanitizedColumn {
  readonly label: string;
  readonly table: string;
  readonly column: string;
  readonly rule: SanitizingRule;
  readonly rows: number;
}

/** Which law of the transfer a value, a row or a table breaks. */
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
  /** PostgreSQL cannot be reached, ended, or does not do what is asked. */
  | 'transfer.server'
  /** The tables of both sides do not fit together. */
  | 'transfer.schema'
  /** A value that PostgreSQL cannot hold. */
  | 'transfer.value'
  /** What arrived differs from what was sent, or does not hold together. */
  | 'transfer.validation'
  /** The child ended before it was done, or did not tell of itself any more. */
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
  /** Of the row in SQLite: an integer of 64 bits. */
  readonly rowid?: string;
}
