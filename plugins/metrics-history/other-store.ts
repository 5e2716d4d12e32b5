// Reads from the other store of the history; samples that it does not hold yet are added from the own file. When the
// other store fails, the own file answers.
import type { Database, Host } from '#core';
import { bucketFor, bucketsFrom, justBefore } from './charts/buckets.ts';
import { type ChartRequest, untilOf } from './charts/chart.ts';
import type { Piece } from './codec/gzip-pieces.ts';
import type { HistoryStore } from './contract.ts';
import type * as Statements from './history-statements.ts';

const READ_MS = 30_000;
const PAGE_ROWS = 100;

type OwnDatabase = Database<typeof Statements>;

export interface SampleWindow {
  readonly pieces: AsyncIterable<Piece>;
  readonly truncated: boolean;
}

export class OtherStore {
  readonly #host: Host;
  readonly #provider: () => string;

  constructor(host: Host, provider: () => string) {
    this.#host = host;
    this.#provider = provider;
  }

  /** The store that the configuration chooses; undefined for the own file, or when no plugin contributes the store. */
  get store(): HistoryStore | undefined {
    return this.#host.contributions('metrics.history-store').get(this.#provider())?.value;
  }

  /** Whether the history is read from the other store. */
  get isActive(): boolean {
    return (this.store?.holds() ?? null) !== null;
  }

  /** A chart as JSON text, compressed by gzip; undefined when the own file has to answer. */
  async chart(database: OwnDatabase, { since, now, bucketSeconds, maxPoints }: ChartRequest) {
    return this.#reading(database, async (store, before) => {
      let [from, until] = [since, now];
      if (from === null) {
        const all = await Promise.all([store.bounds(), database.call('bounds', undefined)]);
        from = Math.min(...all.map(({ oldest }) => oldest ?? Number.POSITIVE_INFINITY));
        until = untilOf(now, from, Math.max(...all.map(({ newest }) => newest ?? Number.NEGATIVE_INFINITY)));
      }
      if (from > until && since === null) return undefined;
      const span = { from, before: Math.min(before, until + 1e-6) };
      const { ranges, isWhole } = await store.ranges(span);
      for (const bucket of bucketsFrom(bucketFor({ from, until, bucketSeconds, maxPoints }))) {
        const rows = await store.lastOfBuckets({ ...span, bucketSeconds: bucket });
        const request = { from, until, bucketSeconds: bucket, maxPoints, before, rows, ranges, isWhole };
        const text = await database.call('joinedChart', request, { timeoutMs: READ_MS });
        if (text !== null) return text;
      }
      return undefined;
    });
  }

  /** The newest samples since a time and before `until`; undefined when the own file has to answer. */
  async samples(
    database: OwnDatabase,
    { since, until, limit }: { readonly since: number | null; readonly until: number; readonly limit: number },
  ): Promise<SampleWindow | undefined> {
    return this.#reading(database, async (store, held) => {
      const from = since ?? Number.NEGATIVE_INFINITY;
      const before = Math.min(held, until);
      const own = await database.call('windowOf', { since: Math.max(from, before), before: until, limit });
      if (own.truncated) return undefined;
      const earlier = await store.newestOf({ from, before, limit: limit - own.samples });
      const span = { from: earlier.from, before, until };
      return { pieces: this.#pieces(database, store, span), truncated: earlier.truncated };
    });
  }

  /** The samples of the other store from `from` to `before`, then those of the own file from `before` to `until`. */
  async *#pieces(
    database: OwnDatabase,
    store: HistoryStore,
    { from, before, until }: { readonly from: number | null; readonly before: number; readonly until: number },
  ): AsyncGenerator<Piece> {
    let after = justBefore(from ?? before);
    try {
      while (from !== null) {
        const rows = await store.page({ after, before, limit: PAGE_ROWS });
        const last = rows.at(-1);
        if (last === undefined) break;
        const piece = await database.call('pieceOfPayloads', { rows });
        if (piece !== null) yield piece;
        after = last.timestamp;
      }
      after = before;
    } catch {
      // The own file gives the samples after the last one that was read. The store itself reports the failure.
      after += 1e-6;
    }
    yield* database.rows('pieces', { from: after, before: until }, { pageRows: 2 });
  }

  /** Calls `work` with the time before which the store has every sample. undefined when the own file has to answer. */
  async #reading<Value>(
    database: OwnDatabase,
    work: (store: HistoryStore, before: number) => Promise<Value | undefined>,
  ): Promise<Value | undefined> {
    const { store } = this;
    const held = store?.holds() ?? null;
    if (store === undefined || held === null) return undefined;
    try {
      const oldest = await database.call('oldestAfter', held);
      if (oldest === undefined) return undefined;
      return await work(store, oldest ?? Number.POSITIVE_INFINITY);
    } catch {
      // The store itself reports the failure.
      return undefined;
    }
  }
}
