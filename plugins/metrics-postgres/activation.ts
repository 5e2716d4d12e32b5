// Moves the history to PostgreSQL while everything runs: enables and starts the server, creates the database, and
// writes every sample to it. Completed stages are not undone when a later one fails.
import { type Host, Problem } from '#core';
import { withDeadline } from '#kit/deadline';
import type { HistoryStoreStatus } from '../metrics-history/contract.ts';
import { sentenceOf } from './fault.ts';
import type { PostgresStore } from './store.ts';

/** Long, because creating the data directory of a new server takes minutes. */
const LIMIT_MS = 600_000;

type Stage = 'configuration' | 'startup' | 'database' | 'synchronization';

export interface Activation {
  readonly database: string;
  /** Whether the activation started the server. */
  readonly started: boolean;
  readonly syncedSamples: number;
  readonly totals: HistoryStoreStatus['totals'];
}

export class HotActivation {
  readonly #host: Host;
  readonly #store: PostgresStore;
  #isRunning = false;

  constructor(host: Host, store: PostgresStore) {
    this.#host = host;
    this.#store = store;
  }

  /**
   * Rejects with a Problem: 400 when another provider is saved, 409 while another activation runs or another task uses
   * the server, 503 with the stage that failed.
   */
  async activate(): Promise<Activation> {
    if (this.#isRunning) throw new Problem(409, 'An activation of PostgreSQL is already running; wait for its end.');
    if (!this.#store.settings.isChosen)
      throw new Problem(400, 'Save dumb.metrics.storage.provider as postgresql first, then activate it.');
    this.#isRunning = true;
    try {
      return await this.#activate();
    } finally {
      this.#isRunning = false;
    }
  }

  async #activate(): Promise<Activation> {
    let stage: Stage = 'configuration';
    const ended = new AbortController();
    const signal = AbortSignal.any([this.#host.signal, ended.signal]);
    const stages = async (): Promise<Activation> => {
      const server = this.#host.use('postgres.server');
      const reason = server.heldFor();
      if (reason !== null) throw new Problem(409, `PostgreSQL is in use: ${reason}; activate it when that is done.`);
      const { database } = this.#store.settings;
      // Read first, because `register` enables the server, which may start it before the next stage does.
      const wasUp = server.isUp();
      await server.register(database);
      stage = 'startup';
      await server.start({ by: this.#host.name, signal });
      stage = 'database';
      await server.createDatabases({ signal });
      stage = 'synchronization';
      const before = this.#store.writtenSamples;
      await this.#store.attempt();
      const syncedSamples = this.#store.writtenSamples - before;
      return { database, started: !wasUp, syncedSamples, totals: await this.#store.totals() };
    };
    try {
      return await withDeadline(stages, this.#host.paced(LIMIT_MS), 'the activation');
    } catch (error) {
      ended.abort();
      if (error instanceof Problem && error.status === 409) throw error;
      this.#host.log.error(`PostgreSQL was not activated: ${stage} failed: ${sentenceOf(error)}`);
      const detail = `PostgreSQL activation failed during ${stage}. SQLite remains active; check the service logs and retry.`;
      throw new Problem(503, detail, { code: 'metrics.activation' });
    }
  }
}
