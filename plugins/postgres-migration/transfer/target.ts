// The session in the PostgreSQL database that gets the rows. The server is not trusted: every wait has a deadline, and
// the size of answers is limited.
import type { Client, QueryResultRow } from 'pg';
import { BoundedSocket } from '#kit/bounded-socket';
import { MAX_TIMER_MS, withDeadline } from '#kit/deadline';
import { secretiveClient } from '#kit/pg-client';
import { RowsIn } from './rows-in.ts';
import { RowsOut } from './rows-out.ts';
import { serverFault } from './server-fault.ts';
import type { DatabasePair, TransferStage, TransferTask } from './task.ts';

const CONNECT_MS = 10_000;
const CLOSE_MS = 2_000;
/** The largest answer to one query. For rows that come back, the limit holds for each piece. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** How long to wait for a lock that another session holds; no other session should use the tables yet. */
const LOCK_MS = 30_000;
const SETTINGS = {
  TimeZone: 'UTC',
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  session_replication_role: 'replica',
  synchronous_commit: 'off',
  lock_timeout: String(LOCK_MS),
  // Rows come back in the order in which they were written.
  synchronize_seqscans: 'off',
} as const;

export class Target {
  readonly #client: Client;
  readonly #socket: BoundedSocket;
  readonly #label: string;
  readonly #answerMs: number;
  stage: TransferStage = 'import';

  private constructor(client: Client, socket: BoundedSocket, label: string, answerMs: number) {
    this.#client = client;
    this.#socket = socket;
    this.#label = label;
    this.#answerMs = answerMs;
  }

  /** Throws a TransferFault. */
  static async connect({ server, answerMs }: TransferTask, { database, label }: DatabasePair): Promise<Target> {
    const { default: pg } = await import('pg');
    const socket = new BoundedSocket(MAX_ANSWER_BYTES);
    const { host, port, user, password } = server;
    const client = new (secretiveClient(pg.Client))({
      host,
      port,
      user,
      password,
      database,
      connectionTimeoutMillis: CONNECT_MS,
      application_name: 'stackwarden',
      options: Object.entries(SETTINGS)
        .map(([name, value]) => `-c ${name}=${value}`)
        .join(' '),
      stream: () => socket,
    });
    const target = new Target(client, socket, label, answerMs);
    // A call that waits for an answer rejects with the error itself.
    client.on('error', () => undefined);
    await target.#use(() => client.connect());
    return target;
  }

  /** Throws a TransferFault. */
  async query<Row extends QueryResultRow>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    this.#socket.ask();
    return this.#use(async () => (await this.#client.query<Row>(sql, [...values])).rows);
  }

  /**
   * Runs a `COPY ... FROM STDIN` with the rows of `chunks`; each chunk is written before the next is asked for. Rejects
   * with the error of the server as it is, because it names a line.
   */
  async copyIn(sql: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const wait = (work: () => Promise<void>): Promise<void> => withDeadline(work, this.#answerMs, 'PostgreSQL');
    this.#socket.ask();
    const rows = this.#client.query(new RowsIn(sql));
    await wait(() => rows.begin());
    for await (const chunk of chunks) await wait(() => rows.write(chunk));
    await wait(() => rows.end());
  }

  /** Hands the bytes of a `COPY ... TO STDOUT` to `take`, which may throw. Throws a TransferFault. */
  async copyOut(sql: string, take: (rows: Uint8Array) => void): Promise<void> {
    this.#socket.ask();
    let deadline: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      const onLate = () => reject(new Error(`PostgreSQL took longer than ${this.#answerMs} ms`));
      deadline = setTimeout(onLate, Math.min(this.#answerMs, MAX_TIMER_MS));
    });
    const rows = new RowsOut(sql, piece => {
      this.#socket.ask();
      deadline?.refresh();
      take(piece);
    });
    try {
      await Promise.race([this.#client.query(rows).ended, late]);
    } catch (error) {
      throw serverFault(error, { stage: this.stage, label: this.#label });
    } finally {
      clearTimeout(deadline);
    }
  }

  async close(): Promise<void> {
    await withDeadline(() => this.#client.end(), CLOSE_MS, 'the end of the connection').catch(() => undefined);
    this.#socket.destroy();
  }

  async #use<Value>(work: () => Promise<Value>): Promise<Value> {
    try {
      return await withDeadline(work, this.#answerMs, 'PostgreSQL');
    } catch (error) {
      throw serverFault(error, { stage: this.stage, label: this.#label });
    }
  }
}
