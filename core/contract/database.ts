// A SQLite database that one plugin owns: its schema and statements stand in a module of the plugin and run in a thread.

/** What a statement is given: the part of better-sqlite3 that the project vouches for. Everything in it is synchronous. */
export interface SqliteDatabase {
  prepare(sql: string): SqliteStatement;
  /** Several statements without parameters. */
  exec(sql: string): unknown;
  /** Makes a function whose writes are done together or not at all. */
  transaction<Args extends unknown[], Value>(fn: (...args: Args) => Value): (...args: Args) => Value;
  pragma(source: string, options?: { simple?: boolean }): unknown;
}

export interface SqliteStatement {
  run(...parameters: unknown[]): { changes: number; lastInsertRowid: number | bigint };
  get(...parameters: unknown[]): unknown;
  all(...parameters: unknown[]): unknown[];
  iterate(...parameters: unknown[]): IterableIterator<unknown>;
  /** true: rows are their first column alone. */
  pluck(toggle?: boolean): this;
  /** true: rows are arrays. */
  raw(toggle?: boolean): this;
}

/** SQL, or a function for what SQL cannot say. Each runs once for a database, in a transaction of its own. */
export type Migration = string | ((db: SqliteDatabase) => void);

/**
 * The module of a database: functions of the form `(db, args) => result`, and `migrations`, in order, the present schema
 * being their number (`user_version`). A migration that was released is never changed; new ones are added at the end.
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
   * Path of the module in the plugin's folder, without extension: `'history-statements'` is `history-statements.ts` in the
   * sources, `.js` in a build and in a third party's folder.
   */
  readonly statements: string;
  /** Default `{config_dir}/data/<plugin>/<name>.sqlite`. */
  readonly file?: string;
  /** true: the file must be there, may belong to anybody, and is not changed; there are no migrations. Default false. */
  readonly readOnly?: boolean;
  /** `full`: every transaction survives a loss of power. Default `normal`: the last ones may be lost then, none of them half. */
  readonly synchronous?: 'normal' | 'full';
  /** `replace`: a damaged file is set aside as `.corrupt-<time>`, which the log tells, and a new one made. Default `refuse`. */
  readonly onCorrupt?: 'refuse' | 'replace';
  /** How long a statement waits for the lock of another process. Default 5 s. */
  readonly busyTimeoutMs?: number;
  /** Larger arguments and results fail. Default 4 MiB each. */
  readonly maxBytes?: number;
}

export interface CallOptions {
  /** Waiting for its turn and running together. Default 30 s. */
  readonly timeoutMs?: number;
}

export interface RowOptions extends CallOptions {
  /** Rows that cross the border of the thread at once. Default 500. */
  readonly pageRows?: number;
}

/**
 * Calls run one after another, in order. What a user can cause and mend is a Problem 503 with a code: `database.busy`
 * (locked by another process), `.full`, `.read-only`, `.corrupt`, `.newer` (a newer version wrote it), `.late`, `.closed`,
 * `.unusable`. A call that is late before its turn is never run; one that is late while it runs may yet be done.
 */
export interface Database<Module extends StatementModule> {
  /** Opens the file, makes it and brings its schema up to date, as the first call does. Rejects with a Problem 503. */
  open(): Promise<void>;
  /** Values cross as by structured clone. */
  call<Name extends StatementName<Module>>(
    name: Name,
    args: StatementArgs<Module, Name>,
    options?: CallOptions,
  ): Promise<StatementResult<Module, Name>>;
  /**
   * Reads what a statement iterates page by page, as it was at the first page, through a connection that only reads; other
   * calls run between the pages. Stop within 30 s of the last page, or it is ended.
   */
  rows<Name extends StatementName<Module>>(
    name: Name,
    args: StatementArgs<Module, Name>,
    options?: RowOptions,
  ): AsyncIterable<StatementRow<Module, Name>>;
  /** Ends the thread after the present call; done by the host when the plugin is withdrawn. */
  close(): Promise<void>;
}
