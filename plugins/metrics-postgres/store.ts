// The history in PostgreSQL. One task in the background connects, compares, writes and removes. The history is read
// from PostgreSQL only once it holds every sample, and only until the first failure.
import type { Host } from '#core';
import { withDeadline } from '#kit/deadline';
import type {
  HistoryMark,
  HistoryStore,
  HistoryStoreStatus,
  MetricsHistory,
  StoredItem,
  StoredPayload,
  TimeSpan,
} from '../metrics-history/contract.ts';
import type { PostgresServer } from '../service-postgres/contract.ts';
import { Connection, type Target } from './connection.ts';
import { FileExchanged, StoreFault, sentenceOf } from './fault.ts';
import { Notice } from './notice.ts';
import * as reads from './reads.ts';
import { type Replication, restoreLost, startMark, writeMissing, writeNew } from './replication.ts';
import { readSettings, type StoreSettings } from './settings.ts';
import { createTables, removeBefore } from './tables.ts';

/** How long the task waits for a notice before it looks for new samples anyway. */
const IDLE_MS = 5_000;
const REMOVAL_MS = 300_000;
const PROBE_MS = 5_000;
/** How long a server that was started may take to become ready. */
const SERVER_MS = 300_000;
const MS_PER_S = 1_000;
const DAY_S = 86_400;
const NO_DATABASE = '3D000';

interface Attempt {
  resolve(): void;
  reject(error: unknown): void;
}

export class PostgresStore implements HistoryStore {
  readonly #host: Host;
  readonly #notice = new Notice();
  #settings: StoreSettings;
  /** What the running task depends on, as JSON, to notice changes; '' when PostgreSQL is not chosen. */
  #target = '';
  #isClosed = false;
  #run: AbortController | undefined;
  #connection: Connection | undefined;
  #held: HistoryMark | null = null;
  /** The mark up to which samples are known to be in PostgreSQL, even while they must not be read from it. */
  #written: HistoryMark = { id: '', seq: 0 };
  #writtenSamples = 0;
  #mustCompare = false;
  #state: HistoryStoreStatus['sync']['state'] = 'idle';
  /** On the clock of `performance.now()`. */
  #nextAttemptMs: number | null = null;
  #lastError: string | null = null;
  #lastSuccess: number | null = null;
  #attempts: Attempt[] = [];

  constructor(host: Host) {
    this.#host = host;
    this.#settings = this.#read();
  }

  /** Starts the task, and restarts it when what it depends on has changed; stops it when PostgreSQL is not chosen. */
  follow(): void {
    if (this.#isClosed) return;
    this.#settings = this.#read();
    const file: unknown = this.#host.use('config.store').get('dumb.metrics.storage.sqlite_path');
    const target = this.#settings.isChosen ? JSON.stringify([this.#aim(), file]) : '';
    if (target === this.#target) return;
    this.#target = target;
    this.#end();
    this.#lastError = null;
    this.#state = 'idle';
    this.#nextAttemptMs = null;
    if (target === '') {
      this.#refuseAttempts();
      return;
    }
    this.#run = new AbortController();
    void this.#keep(AbortSignal.any([this.#run.signal, this.#host.signal]));
  }

  /** Ends the pause after a failure when the server has been started. Never rejects. */
  async followServer(): Promise<void> {
    if (this.#run === undefined || this.#held !== null) return;
    const signal = AbortSignal.any([this.#host.signal, AbortSignal.timeout(SERVER_MS)]);
    await this.#server()
      .ready({ signal })
      .then(() => this.attempt())
      .catch(() => undefined);
  }

  /** Stops the task for good. */
  close(): void {
    this.#isClosed = true;
    this.#end();
    this.#refuseAttempts();
  }

  get settings(): StoreSettings {
    return this.#settings;
  }

  /** How many samples were written since the start of the host. */
  get writtenSamples(): number {
    return this.#writtenSamples;
  }

  /**
   * Resolves when PostgreSQL holds every sample, after an attempt that begins now unless one is running. Rejects with
   * the error of the attempt, or with a StoreFault when PostgreSQL is not chosen.
   */
  async attempt(): Promise<void> {
    this.follow();
    if (this.#run === undefined) throw new StoreFault('PostgreSQL is not in use');
    const done = new Promise<void>((resolve, reject) => this.#attempts.push({ resolve, reject }));
    this.#notice.ring();
    return done;
  }

  async totals(): Promise<HistoryStoreStatus['totals']> {
    const connection = this.#connection;
    if (connection === undefined) return null;
    return reads.totals(connection, this.#settings).catch(() => null);
  }

  holds(): HistoryMark | null {
    return this.#held;
  }

  written(): void {
    this.#notice.ring();
  }

  importing(): void {
    this.#held = null;
    this.#mustCompare = true;
    this.#notice.ring();
  }

  localAgeDays(): number {
    return this.#settings.localDays;
  }

  async status({ probe }: { readonly probe: boolean }): Promise<HistoryStoreStatus> {
    if (probe && this.#held === null && this.#run !== undefined)
      await withDeadline(() => this.attempt(), PROBE_MS, 'the attempt').catch(() => undefined);
    const [totals, pendingSamples] = await Promise.all([
      this.totals(),
      this.#history()
        .pendingAfter(this.#written)
        .catch(() => 0),
    ]);
    return {
      lastError: this.#lastError,
      lastSuccess: this.#lastSuccess,
      totals,
      sync: { state: this.#state, pendingSamples, nextAttemptAt: this.#nextAttemptAt() },
    };
  }

  bounds(): ReturnType<HistoryStore['bounds']> {
    return this.#reading(connection => reads.bounds(connection));
  }

  lastOfBuckets(span: TimeSpan & { readonly bucketSeconds: number }): Promise<StoredItem[]> {
    return this.#reading(connection => reads.lastOfBuckets(connection, span));
  }

  ranges(span: TimeSpan): ReturnType<HistoryStore['ranges']> {
    return this.#reading(connection => reads.ranges(connection, span));
  }

  newestOf(span: TimeSpan & { readonly limit: number }): ReturnType<HistoryStore['newestOf']> {
    return this.#reading(connection => reads.newestOf(connection, span));
  }

  page(request: Parameters<HistoryStore['page']>[0]): Promise<StoredPayload[]> {
    return this.#reading(connection => reads.page(connection, request));
  }

  async #reading<Value>(read: (connection: Connection) => Promise<Value>): Promise<Value> {
    const connection = this.#connection;
    if (connection === undefined || this.#held === null) throw new StoreFault('PostgreSQL is not in use');
    try {
      return await read(connection);
    } catch (error) {
      // The task notices the failure, too, and logs it.
      if (this.#connection === connection) this.#held = null;
      throw error;
    }
  }

  /** The task: serves, and tries again after each failure. Never rejects; ends when `signal` aborts. */
  async #keep(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const attempts = this.#attempts.splice(0);
      try {
        this.#state = 'reconciling';
        this.#nextAttemptMs = null;
        await this.#serve(signal, attempts);
      } catch (error) {
        if (signal.aborted) {
          // The run that replaced this one serves these attempts.
          this.#attempts.unshift(...attempts);
          return;
        }
        this.#failed(error);
        for (const attempt of attempts) attempt.reject(error);
        if (this.#attempts.length === 0) await this.#pause(signal);
      } finally {
        // A run that was replaced leaves the state to the one that replaced it.
        if (!signal.aborted) this.#held = null;
      }
    }
  }

  /** Connects, compares, and then replicates until something fails. Always rejects. */
  async #serve(signal: AbortSignal, attempts: Attempt[]): Promise<never> {
    const connection = await this.#connect(signal);
    try {
      await createTables(connection, this.#settings.schema);
      this.#connection = connection;
      const replication: Replication = {
        connection,
        history: this.#history(),
        signal,
        wrote: (samples, mark) => {
          if (signal.aborted) return;
          this.#writtenSamples += samples;
          this.#written = mark;
          if (this.#held !== null) this.#held = mark;
        },
      };
      for (;;) {
        try {
          await this.#compare(replication, attempts);
          await this.#replicate(replication);
        } catch (error) {
          if (!(error instanceof FileExchanged)) throw error;
          // The server works, so that the comparison begins anew without a pause.
          this.#held = null;
          this.#host.log.info(`${error.message}, so it is compared with PostgreSQL`);
        }
      }
    } finally {
      if (this.#connection === connection) this.#connection = undefined;
      void connection.close();
    }
  }

  /** Resolves when PostgreSQL holds every sample; from then on the history is read from it. */
  async #compare(replication: Replication, attempts: Attempt[]): Promise<void> {
    const { connection, history, signal } = replication;
    this.#state = 'reconciling';
    do {
      while (history.isImporting()) await this.#notice.wait(IDLE_MS, [signal, connection.failed]);
      signal.throwIfAborted();
      this.#mustCompare = false;
      const mark = await startMark(replication);
      const written = await writeNew(replication, mark);
      await writeMissing(replication, written, this.#history().oldestKept());
      const all = await writeNew(replication, written);
      signal.throwIfAborted();
      this.#written = all;
    } while (this.#mustCompare);
    this.#held = this.#written;
    this.#succeeded();
    this.#host.log.info('PostgreSQL holds the whole history of metrics, which is read from it');
    for (const attempt of attempts.splice(0)) attempt.resolve();
  }

  /** Writes new samples until everything must be compared again. */
  async #replicate(replication: Replication): Promise<void> {
    const { connection, signal } = replication;
    let removedMs = Number.NEGATIVE_INFINITY;
    await restoreLost(replication, Math.max(this.#history().oldestKept(), this.#oldestLocal()), async () => {
      this.#written = await writeNew(replication, this.#written);
    });
    while (!this.#mustCompare) {
      const attempts = this.#attempts.splice(0);
      try {
        const all = await writeNew(replication, this.#written);
        // Without new samples, only this statement shows whether the server hangs.
        if (all.seq === this.#written.seq) await connection.read('SELECT 1');
        signal.throwIfAborted();
        this.#written = all;
        if (performance.now() - removedMs > REMOVAL_MS) {
          while (await removeBefore(connection, this.#history().oldestKept())) signal.throwIfAborted();
          removedMs = performance.now();
        }
        this.#succeeded();
        for (const attempt of attempts.splice(0)) attempt.resolve();
      } finally {
        this.#attempts.unshift(...attempts);
      }
      await this.#notice.wait(IDLE_MS, [signal, connection.failed]);
      signal.throwIfAborted();
      if (connection.failed.aborted) throw connection.failed.reason;
    }
  }

  async #connect(signal: AbortSignal): Promise<Connection> {
    const target = this.#aim();
    try {
      return await Connection.open(target);
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== NO_DATABASE) throw error;
      await this.#server().register(target.database);
      await this.#server().createDatabases({ signal });
      return Connection.open(target);
    }
  }

  #succeeded(): void {
    this.#state = 'idle';
    this.#lastError = null;
    this.#lastSuccess = Date.now() / MS_PER_S;
  }

  #failed(error: unknown): void {
    this.#held = null;
    const sentence = sentenceOf(error);
    if (this.#lastError !== sentence) this.#host.log.warn(`the history of metrics is read from SQLite: ${sentence}`);
    this.#lastError = sentence;
  }

  async #pause(signal: AbortSignal): Promise<void> {
    this.#state = 'backoff';
    const endsMs = performance.now() + this.#settings.retryMs;
    this.#nextAttemptMs = endsMs;
    // New samples ring, too, but only a requested attempt ends the pause.
    while (!signal.aborted && this.#attempts.length === 0 && performance.now() < endsMs)
      await this.#notice.wait(endsMs - performance.now(), [signal]);
  }

  /** Unix seconds, computed from the present time of day, because the clock may have been set meanwhile. */
  #nextAttemptAt(): number | null {
    return this.#nextAttemptMs === null ? null : (Date.now() + this.#nextAttemptMs - performance.now()) / MS_PER_S;
  }

  /** The time from which the SQLite file keeps samples, in Unix seconds. */
  #oldestLocal(): number {
    return Date.now() / MS_PER_S - this.#settings.localDays * DAY_S;
  }

  #end(): void {
    this.#held = null;
    this.#run?.abort(new StoreFault('what PostgreSQL is used for has changed'));
    this.#run = undefined;
  }

  #refuseAttempts(): void {
    for (const attempt of this.#attempts.splice(0)) attempt.reject(new StoreFault('PostgreSQL is not in use'));
  }

  #read(): StoreSettings {
    return readSettings(this.#host.use('config.store').get('dumb.metrics.storage'));
  }

  #aim(): Target {
    const { database, schema } = this.#settings;
    return { ...this.#server().access(), database, schema };
  }

  #history(): MetricsHistory {
    return this.#host.use('metrics.history');
  }

  #server(): PostgresServer {
    return this.#host.use('postgres.server');
  }
}
