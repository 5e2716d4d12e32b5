// The connections to the server. The first failure on any of them ends all, so that no caller waits for a server that
// died or hangs.
import type { Pool, PoolClient, QueryResultRow } from 'pg';
import { BoundedSocket } from '#kit/bounded-socket';
import { withDeadline } from '#kit/deadline';
import { secretiveClient } from '#kit/pg-client';
import type { ServerAccess } from '../service-postgres/contract.ts';

const CONNECT_MS = 5_000;
const STATEMENT_MS = 15_000;
/** Longer than `STATEMENT_MS`, which a server that is suspended or swapped out cannot enforce itself. */
const ANSWER_MS = STATEMENT_MS + 1_000;
/** Shorter than `ANSWER_MS`: a client waits, and SQLite can answer instead. */
const READ_MS = 8_000;
const CLOSE_MS = 2_000;
/** How long to wait after an idle connection ended, because several often end at once. */
const ASK_ANEW_MS = 100;
const MAX_CONNECTIONS = 4;
/** Pages of samples take a few MiB. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export interface Target extends ServerAccess {
  readonly database: string;
  readonly schema: string;
}
/** Runs statements within one transaction. */
export type Statement = <Row extends QueryResultRow>(sql: string, values?: readonly unknown[]) => Promise<Row[]>;

export class Connection {
  readonly #pool: Pool;
  readonly #sockets: ReadonlySet<BoundedSocket>;
  readonly #failure = new AbortController();
  /** Connections that have been idle and have not answered a statement since. */
  readonly #unproven = new WeakSet<PoolClient>();
  #asking: NodeJS.Timeout | undefined;

  private constructor(pool: Pool, sockets: ReadonlySet<BoundedSocket>) {
    this.#pool = pool;
    this.#sockets = sockets;
    pool.on('error', () => this.#askAnew());
    const used = new Set<PoolClient>();
    pool.on('acquire', client => {
      used.add(client);
      for (const socket of sockets) socket.ask();
    });
    pool.on('release', (_error, client) => {
      used.delete(client);
      this.#unproven.add(client);
    });
    // Between two statements of a transaction, only this event tells that the server has ended the connection.
    pool.on(
      'connect',
      client =>
        void client.on('error', error => {
          if (used.has(client) && !this.#unproven.has(client)) this.fail(error);
        }),
    );
  }

  /** Resolves when the server has answered. Rejects with the error of the server or the system. */
  static async open({ host, port, user, password, database, schema }: Target): Promise<Connection> {
    // Imported on use, because the history of most installations lies in SQLite.
    const { default: pg } = await import('pg');
    const sockets = new Set<BoundedSocket>();
    const pool = new pg.Pool({
      Client: secretiveClient(pg.Client),
      host,
      port,
      user,
      password,
      database,
      max: MAX_CONNECTIONS,
      connectionTimeoutMillis: CONNECT_MS,
      statement_timeout: STATEMENT_MS,
      options: `-c search_path="${schema}"`,
      application_name: 'stackwarden',
      stream: () => {
        const socket = new BoundedSocket(MAX_ANSWER_BYTES);
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
        return socket;
      },
    });
    const connection = new Connection(pool, sockets);
    try {
      await connection.read('SELECT 1');
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /** Aborts when a connection has failed; its reason is the error. */
  get failed(): AbortSignal {
    return this.#failure.signal;
  }

  /**
   * Tests the server after an idle connection has ended: a proxy or a setting of the server may close idle connections,
   * so that end alone does not mean that the server failed.
   */
  #askAnew(): void {
    if (this.#asking !== undefined || this.#failure.signal.aborted) return;
    this.#asking = setTimeout(() => {
      this.#asking = undefined;
      // `read` itself reports a failure to all.
      if (!this.#pool.ending) void this.read('SELECT 1').catch(() => undefined);
    }, ASK_ANEW_MS).unref();
  }

  fail(error: unknown): void {
    if (this.#failure.signal.aborted) return;
    this.#failure.abort(error);
    for (const socket of this.#sockets) socket.destroy();
  }

  /** One statement for an answer that a client waits for. */
  read<Row extends QueryResultRow>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#use(READ_MS, () => this.#answer<Row>(sql, values));
  }

  /** One statement in the background, which may be repeated. */
  query<Row extends QueryResultRow>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#use(ANSWER_MS, () => this.#answer<Row>(sql, values));
  }

  /** As `transaction`; undefined when one of the statements takes the server longer than `limitMs`. */
  async within<Value>(limitMs: number, work: (statement: Statement) => Promise<Value>): Promise<Value | undefined> {
    try {
      return await this.transaction(async statement => {
        await statement(`SET LOCAL statement_timeout = ${limitMs}`);
        return work(statement);
      }, READ_MS);
    } catch (error) {
      if (isLate(error)) return undefined;
      throw error;
    }
  }

  /** Runs `work` in a transaction: all its statements take effect, or none. */
  async transaction<Value>(
    work: (statement: Statement) => Promise<Value>,
    answerMs: number = ANSWER_MS,
  ): Promise<Value> {
    const { client } = await this.#use(answerMs, () => this.#first('BEGIN'));
    const statement: Statement = async <Row extends QueryResultRow>(sql: string, values: readonly unknown[] = []) =>
      this.#use(answerMs, async () => (await client.query<Row>(sql, [...values])).rows);
    try {
      const value = await work(statement);
      await statement('COMMIT');
      client.release();
      return value;
    } catch (error) {
      // Ending the connection makes the server roll the transaction back.
      client.release(true);
      throw error;
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#asking);
    const ended = this.#pool.end();
    // A server that hangs never closes its side.
    if (!this.#failure.signal.aborted)
      await withDeadline(() => ended, CLOSE_MS, 'the end of the connections').catch(() => undefined);
    else void ended.catch(() => undefined);
    for (const socket of this.#sockets) socket.destroy();
  }

  async #answer<Row extends QueryResultRow>(sql: string, values: readonly unknown[]): Promise<Row[]> {
    const { client, rows } = await this.#first<Row>(sql, values);
    client.release();
    return rows;
  }

  /**
   * The first statement on a connection. The server may have closed an idle connection without the pool having noticed
   * yet. In that case another connection is tried; only a new one shows whether the server works.
   */
  async #first<Row extends QueryResultRow>(
    sql: string,
    values: readonly unknown[] = [],
  ): Promise<{ readonly client: PoolClient; readonly rows: Row[] }> {
    for (;;) {
      const client = await this.#pool.connect();
      const wasIdle = this.#unproven.has(client);
      try {
        const { rows } = await client.query<Row>(sql, [...values]);
        this.#unproven.delete(client);
        return { client, rows };
      } catch (error) {
        client.release(true);
        if (!wasIdle || this.#failure.signal.aborted || !isClosed(error)) throw error;
      }
    }
  }

  async #use<Value>(limitMs: number, work: () => Promise<Value>): Promise<Value> {
    const { signal } = this.#failure;
    if (signal.aborted) throw signal.reason;
    let onFailure: (() => void) | undefined;
    const failed = new Promise<never>((_resolve, reject) => {
      onFailure = () => reject(signal.reason);
      signal.addEventListener('abort', onFailure);
    });
    try {
      return await withDeadline(() => Promise.race([work(), failed]), limitMs, 'PostgreSQL');
    } catch (error) {
      // A server that cancels a statement at its limit works.
      if (!isLate(error)) this.fail(error);
      throw error;
    } finally {
      if (onFailure !== undefined) signal.removeEventListener('abort', onFailure);
    }
  }
}

/** Whether the connection was closed without a reason from the server. */
function isClosed(error: unknown): boolean {
  const { code, message = '' } = error as { readonly code?: unknown; readonly message?: string };
  return code === 'ECONNRESET' || code === 'EPIPE' || (code === undefined && /terminated/.test(message));
}

/** Whether the server cancelled a statement at its time limit (`query_canceled`). */
function isLate(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === '57014';
}
