// What the managed PostgreSQL server offers to plugins that keep data in it.

/** How clients on this machine reach the server, as the user that owns its databases. */
export interface ServerAccess {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

/** One statement, in a database of the server. */
export interface ServerQuery {
  /** Default: the one for maintenance. */
  readonly database?: string;
  readonly sql: string;
  readonly values?: readonly unknown[];
  /** Default one minute. */
  readonly limitMs?: number;
}

export interface PostgresServer {
  access(): ServerAccess;
  /**
   * Enables the server and adds a database to those that it has; saves only what differs. Rejects with a Problem when
   * that cannot be saved.
   */
  register(database: string): Promise<void>;
  /** Whether a database is on the list of those that it has. */
  isRegistered(database: string): boolean;
  /** Why nobody may use the server at present, as during a migration; null when everybody may. */
  heldFor(): string | null;
  /** Whether its process runs or is being started. */
  isUp(): boolean;
  /**
   * Starts the server where it does not run, as a request does, and waits until it accepts clients. Rejects with a
   * Problem when it cannot be started or ends meanwhile.
   */
  start(options: { readonly by: string; readonly signal: AbortSignal }): Promise<void>;
  /** Waits until the running server accepts clients. Rejects with a Problem when it does not run. */
  ready(options: { readonly signal: AbortSignal }): Promise<void>;
  /** Creates those of its databases that are missing. */
  createDatabases(options: { readonly signal: AbortSignal }): Promise<void>;
  /**
   * Runs one statement as the user that owns the databases, and gives its rows, at most 8 MiB. Rejects with the error
   * of the server, whose `code` is its SQLSTATE, or of the connection.
   */
  query(query: ServerQuery): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Takes databases off the list of those that it has; what is in them stays. Rejects with a Problem. */
  unregister(databases: readonly string[]): Promise<void>;
  /** Name of its process and its directory of data; undefined where the configuration has no server. */
  place():
    | { readonly processName: string; readonly directory: string | undefined; readonly isEnabled: boolean }
    | undefined;
  /** Directory of its programs, of the version that made its data; undefined where the machine has none. */
  programs(): Promise<string | undefined>;
}

declare module '#core' {
  interface Services {
    /** The managed PostgreSQL server, for plugins that keep data in it. */
    'postgres.server': PostgresServer;
  }
}
