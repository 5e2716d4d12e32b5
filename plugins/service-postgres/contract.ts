// What the managed PostgreSQL server offers to plugins that keep data in it.

/** How clients on this machine reach the server, as the user that owns its databases. */
export interface ServerAccess {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

export interface PostgresServer {
  access(): ServerAccess;
  /**
   * Enables the server and adds a database to those that it has; saves only what differs. Rejects with a Problem when
   * that cannot be saved.
   */
  register(database: string): Promise<void>;
  /** Why nobody may use the server at present, as during a migration; null when everybody may. */
  heldFor(): string | null;
  /**
   * Starts the server where it does not run, as a request does, and waits until it accepts clients. Rejects with a Problem
   * when it cannot be started or ends meanwhile.
   */
  start(options: { readonly by: string; readonly signal: AbortSignal }): Promise<'started' | 'reused'>;
  /** Waits until the running server accepts clients. Rejects with a Problem when it does not run. */
  ready(options: { readonly signal: AbortSignal }): Promise<void>;
  /** Creates those of its databases that are missing. */
  createDatabases(options: { readonly signal: AbortSignal }): Promise<void>;
}

declare module '#core' {
  interface Services {
    /** The managed PostgreSQL server, for plugins that keep data in it. */
    'postgres.server': PostgresServer;
  }
}
