// What the managed PostgreSQL server offers to plugins that keep data in it.

/** How clients on this machine reach the server, as the user that owns its databases. */
export interface ServerAccess {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

/** One statement to be run in a database of the server. */
export interface ServerQuery {
  /** Default: `postgres`. */
  readonly database?: string;
  readonly sql: string;
  readonly values?: readonly unknown[];
  /** Default one minute. */
  readonly limitMs?: number;
}

export interface PostgresServer {
  access(): ServerAccess;
  /**
   * Enables the server and adds a database to its configured list; saves only what differs. Rejects with a Problem when
   * that cannot be saved.
   */
  register(database: string): Promise<void>;
  /** Whether a database is on the configured list and enabled. */
  isRegistered(database: string): boolean;
  /** Whether a database is on the configured list and disabled there. */
  isDisabled(database: string): boolean;
  /** Why the server is reserved at present, for example for a migration; null when it may be used. */
  heldFor(): string | null;
  /** Whether the server's process runs or is being started. */
  isUp(): boolean;
  /**
   * Starts the server if it does not run, as on request of a user, and waits until it accepts clients. Rejects with a
   * Problem when it cannot be started or ends meanwhile.
   */
  start(options: { readonly by: string; readonly signal: AbortSignal }): Promise<void>;
  /** Waits until the running server accepts clients. Rejects with a Problem when it does not run. */
  ready(options: { readonly signal: AbortSignal }): Promise<void>;
  /** Creates those databases of the configured list that are missing. */
  createDatabases(options: { readonly signal: AbortSignal }): Promise<void>;
  /**
   * Runs one statement as the user that owns the databases, and returns its rows, at most 8 MiB. Rejects with the error
   * of the server, whose `code` is the SQLSTATE, or of the connection.
   */
  query(query: ServerQuery): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /**
   * Removes databases from the configured list, or disables them there where they are in `disabled`; their content
   * stays. Rejects with a Problem when that cannot be saved.
   */
  unregister(databases: readonly string[], disabled?: readonly string[]): Promise<void>;
  /** The server's process name and data directory; undefined when the configuration has no server. */
  place():
    | { readonly processName: string; readonly directory: string | undefined; readonly isEnabled: boolean }
    | undefined;
  /**
   * Directory of the server's programs, of the version that made its data if installed; undefined when there is none.
   */
  programs(): Promise<string | undefined>;
}

declare module '#core' {
  interface Services {
    /** The managed PostgreSQL server, for plugins that keep data in it. */
    'postgres.server': PostgresServer;
  }
}
