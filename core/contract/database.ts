// A SQLite database that one plugin owns. Its migrations and statements are in a module of the plugin, which runs in a
// thread of its own.

/**
 * The database that statements receive: the part of better-sqlite3 that the contract guarantees. All of it is
 * synchronous.
 */
export interface SqliteDatabase {
  prepare(sql: string): SqliteStatement;
  /** Runs several statements without parameters. */
  exec(sql: string): unknown;
  /** Wraps `fn` in a transaction: all of its writes take effect, or none does. */
  transaction<Args extends unknown[], Value>(fn: (...args: Args) => Value): (...args: Args) => Value;
  pragma(source: string, options?: { simple?: boolean }): unknown;
}

export interface SqliteStatement {
  run(...parameters: unknown[]): { changes: number; lastInsertRowid: number | bigint };
  get(...parameters: unknown[]): unknown;
  all(...parameters: unknown[]): unknown[];
  iterate(...parameters: unknown[]): IterableIterator<unknown>;
  /** Whether rows are the value of their first column. Default true when called without an argument. */
  pluck(toggle?: boolean): this;
  /** Whether rows are arrays. Default true when called without an argument. */
  raw(toggle?: boolean): this;
  /** Whether integers are bigints, as those beyond 2^53 must be. Default true when called without an argument. */
  safeIntegers(toggle?: boolean): this;
}

/** SQL, or a function for what SQL cannot express. Each migration runs once for a database, in its own transaction. */
export type Migration = string | ((db: SqliteDatabase) => void);

/**
 * The module of a database: functions of the form `(db, args) => result`, and the list `migrations`, in order. The
 * version of the schema (`user_version`) is the number of migrations. A migration that was released is never changed;
 * new ones are added at the end.
 */
export type StatementModule = object;

// biome-ignore lint/suspicious/noExplicitAny: what a statement takes and gives is the module's own
type Statement = (db: SqliteDatabase, args: any) => unknown;

/** Names of the functions of a module. */
export type StatementName<Module> = {
  [Name in keyof Module]: Module[Name] extends Statement ? Name : never;
}[keyof Module] &
  string;

export type StatementArgs<Module, Name extends keyof Module> = Module[Name] extends (db: SqliteDatabase) => unknown
  ? undefined
  : Module[Name] extends (db: SqliteDatabase, args: infer Args) => unknown
    ? Args
    : never;

export type StatementResult<Module, Name extends keyof Module> = Module[Name] extends Statement
  ? ReturnType<Module[Name]>
  : never;

/** A row of a statement whose result can be iterated, for example `statement.iterate()`. */
export type StatementRow<Module, Name extends keyof Module> =
  StatementResult<Module, Name> extends Iterable<infer Row> ? Row : never;

export interface DatabaseOptions {
  /**
   * Path of the module in the plugin's folder, without extension, which is that of the plugin's index file:
   * `'history-statements'` is `history-statements.js` beside `index.js`, and `history-statements.ts` beside `index.ts`.
   */
  readonly statements: string;
  /**
   * Path of the file. Default `{config_dir}/data/<plugin>/<name>.sqlite`. The mode of any other file stays as it is,
   * and only the host's user may be able to write to its directory.
   */
  readonly file?: string;
  /** Opens an existing file, of any owner, without changing it; migrations do not run. Default false. */
  readonly readOnly?: boolean;
  /**
   * With `full` every transaction survives a loss of power. With `normal`, the default, the last transactions may be
   * lost then, but never in part.
   */
  readonly synchronous?: 'normal' | 'full';
  /**
   * With `replace` a damaged file is renamed to `.corrupt-<time>`, which is logged, and a new one is created. A file
   * that is no database at all is replaced only if its name ends in `.sqlite`, `.sqlite3` or `.db`. Default `refuse`.
   */
  readonly onCorrupt?: 'refuse' | 'replace';
  /** Page size of a new file, for rows that do not fit well into the default of 4 KiB. */
  readonly pageBytes?: 4_096 | 8_192 | 16_384;
  /**
   * Whether `PRAGMA incremental_vacuum` can return the space of removed rows, in a new file, or in a small one of which
   * most was free when it was opened. Default false.
   */
  readonly canShrink?: boolean;
  /** How long a statement waits while another process has locked the file. Default 5 s. */
  readonly busyTimeoutMs?: number;
  /** Limit for the serialized arguments, and for the serialized result, of one call. Default 4 MiB each. */
  readonly maxBytes?: number;
}

export interface CallOptions {
  /** Limit for a call, including the time that it waits for earlier calls. Default 30 s. */
  readonly timeoutMs?: number;
}

export interface RowOptions extends CallOptions {
  /** Number of rows that are transferred from the thread at a time. Default 500. */
  readonly pageRows?: number;
}

/**
 * Calls run one after another, in their order. A fault that a user can cause and fix is a Problem 503 with a code:
 * `database.busy` (locked by another process), `.full`, `.read-only`, `.corrupt`, `.newer` (written by a newer
 * version), `.late`, `.closed`, `.unusable`. A call that misses its deadline before its turn is never run; one that
 * misses it while it runs may still be completed.
 */
export interface Database<Module extends StatementModule> {
  /**
   * Opens or creates the file and migrates its schema, which the first call does otherwise. Rejects with a Problem 503.
   */
  open(): Promise<void>;
  /** Runs a statement. Arguments and results are copied as by structured clone. */
  call<Name extends StatementName<Module>>(
    name: Name,
    args: StatementArgs<Module, Name>,
    options?: CallOptions,
  ): Promise<StatementResult<Module, Name>>;
  /**
   * Reads the rows of a statement page by page, through a read-only connection that keeps the state of the first page;
   * other calls run between the pages. The reader must fetch each page within 30 s of the one before, or the rows are
   * closed.
   */
  rows<Name extends StatementName<Module>>(
    name: Name,
    args: StatementArgs<Module, Name>,
    options?: RowOptions,
  ): AsyncIterable<StatementRow<Module, Name>>;
  /** Ends the thread after the present call. The host calls it when the plugin is withdrawn. */
  close(): Promise<void>;
}
