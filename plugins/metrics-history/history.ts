// The history of samples: has them recorded, removes those that are too old or too many, and reads them.
import path from 'node:path';
import { type Database, type Host, Problem } from '#core';
import { entryIn, fileVersions } from '#kit/fs-out-of-process';
import { provenNowMs } from '#kit/proven-time';
import type {} from '../metrics/contract.ts';
import type { ChartRequest } from './charts/chart.ts';
import type {
  HistoryMark,
  HistoryStoreStatus,
  KeptSample,
  MetricsHistory,
  SpanUsage,
  StoredPayload,
} from './contract.ts';
import type * as Statements from './history-statements.ts';
import { LineFiles } from './line-files.ts';
import { importLines } from './lines-import.ts';
import { TRY_MS, whenUnlocked } from './lock-wait.ts';
import { OtherStore, type SampleWindow } from './other-store.ts';
import { SampleRecorder } from './sample-recorder.ts';
import { type HistorySettings, readSettings } from './settings.ts';
import type { UsageRequest } from './store/process-usage.ts';
import { storeTotals } from './store-totals.ts';

const MAX_BYTES = 64 * 1_024 * 1_024;
const MAINTENANCE_MS = 300_000;
const READ_MS = 30_000;
const MS_PER_S = 1_000;
const DAY_S = 86_400;
/** How long requests for the same chart share an answer. */
const SHARED_MS = 2_000;
/** How long after the start the first chart is rehearsed, so that it does not delay the start. */
const REHEARSAL_MS = 2_000;
/** How many samples for another store the thread of the database prepares at a time. */
const PAGE_ROWS = 25;

export type ChartQuery = Omit<ChartRequest, 'now'>;

interface Storage extends Statements.StorageNumbers {
  readonly path: string;
  /** The size of the file together with its `-wal` and `-shm` files. */
  readonly fileBytes: number;
  /** Why nothing can be read or written; null when all is well. */
  readonly error: string | null;
}

export class History implements MetricsHistory {
  readonly totals = storeTotals;
  readonly #host: Host;
  readonly #directory: string;
  #database: Database<typeof Statements>;
  #settings: HistorySettings;
  readonly #recorder: SampleRecorder;
  #rehearsal: NodeJS.Timeout | undefined;
  #importing: Promise<Statements.ImportRecord> | undefined;
  readonly #other: OtherStore;
  readonly #charts = new Map<string, Promise<Uint8Array>>();

  constructor(host: Host) {
    this.#host = host;
    this.#directory = path.join(host.paths.configDir, 'metrics');
    this.#settings = this.#read();
    this.#database = this.#open(this.#settings);
    this.#other = new OtherStore(host, () => this.#settings.provider);
    this.#recorder = new SampleRecorder(host, {
      settings: () => this.#settings,
      write: async texts => {
        await whenUnlocked(() => this.#database.call('write', texts));
        this.#other.store?.written();
      },
    });
  }

  /** Begins to take samples, and to import the files of an earlier program. */
  start(): void {
    this.#recorder.begin();
    this.#host.every(MAINTENANCE_MS, () => this.#maintain());
    void this.#catchUp().then(() => this.#rehearseSoon());
  }

  async changed(): Promise<void> {
    const before = this.#settings;
    const settings = this.#read();
    const last = this.#database;
    // Opened first: when that fails, for example for another plugin's file, the settings stay as they are.
    if (before.file !== settings.file) this.#database = this.#open(settings);
    this.#settings = settings;
    if (before.intervalMs !== settings.intervalMs) this.#recorder.reschedule();
    if (last !== this.#database) {
      await last.close();
      // Not awaited either; see below.
      void this.#catchUp();
    }
    if (before.maxAgeDays === settings.maxAgeDays && before.maxBytes === settings.maxBytes) return;
    // Not awaited, so that other plugins do not wait with their part of the change.
    void this.#maintain().catch(error => {
      if (!this.#host.signal.aborted) this.#host.log.error('what is too old or too much is not removed yet', error);
    });
  }

  /** Writes the samples that wait in memory, as far as that is possible now. */
  async close(): Promise<void> {
    clearTimeout(this.#rehearsal);
    await this.#recorder.end();
  }

  /** Why samples are not kept at present; null while they are. */
  get fault(): string | null {
    return this.#recorder.fault;
  }

  /** The data of a chart as JSON text, compressed by gzip. */
  chart(query: ChartQuery): Promise<Uint8Array> {
    const { since, bucketSeconds, maxPoints } = query;
    const key = [since === null ? 'all' : Math.floor((since * MS_PER_S) / SHARED_MS), bucketSeconds, maxPoints].join();
    const known = this.#charts.get(key);
    if (known !== undefined) return known;
    const request = { ...query, now: Date.now() / MS_PER_S };
    const text = this.#reading(this.#chart(request));
    this.#charts.set(key, text);
    setTimeout(() => this.#charts.delete(key), SHARED_MS).unref();
    return text;
  }

  /**
   * The newest samples since a time, in order, as pieces of a list's JSON text; and whether some were left out. Samples
   * of the future, taken while the clock was ahead, are not among them.
   */
  async samples(since: number | null, limit: number): Promise<SampleWindow> {
    const before = (Date.now() + 1) / MS_PER_S;
    const other = await this.#other.samples(this.#database, { since, until: before, limit });
    if (other !== undefined) return { ...other, pieces: await this.#reading(begun(other.pieces)) };
    const { from, truncated } = await this.#reading(this.#database.call('windowOf', { since, before, limit }));
    if (from === null) return { pieces: none(), truncated: false };
    const pieces = this.#database.rows('pieces', { from, before }, { pageRows: 2 });
    return { pieces: await this.#reading(begun(pieces)), truncated };
  }

  async storage(): Promise<Storage> {
    const { file } = this.#settings;
    const files = ['', '-wal', '-shm'].map(end => `${file}${end}`);
    const versions = await fileVersions(files).catch(() => new Map<string, string>());
    const fileBytes = [...versions.values()].reduce((sum, version) => sum + entryIn(version).bytes, 0);
    try {
      return {
        path: file,
        fileBytes,
        error: this.fault,
        ...(await this.#database.call('storage', undefined)),
      };
    } catch (error) {
      const nothing = { samples: 0, rawBytes: 0, storedBytes: 0, thinnedSamples: 0, oldest: null, newest: null };
      return { path: file, fileBytes, error: (error as Error).message, ...nothing };
    }
  }

  async legacyFiles(): Promise<{
    readonly files: number;
    readonly bytes: number;
    readonly import: Statements.ImportRecord;
  }> {
    const none = { completed: false, files: 0, samples: 0, skipped: 0 };
    const [files, record] = await Promise.all([
      new LineFiles(this.#settings.linesDirectory).list().catch(() => []),
      this.#database.call('importRecord', undefined).catch(() => none),
    ]);
    return { files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0), import: record };
  }

  get provider(): HistorySettings['provider'] {
    return this.#settings.provider;
  }

  /** Whether the history is read from another store than the own file. */
  get isElsewhere(): boolean {
    return this.#other.isActive;
  }

  /** The status of the other store that the configuration chooses; undefined when there is none. */
  async otherStatus(options: { readonly probe: boolean }): Promise<HistoryStoreStatus | undefined> {
    return this.#other.store?.status(options);
  }

  mark(): Promise<HistoryMark> {
    return this.#database.call('mark', undefined);
  }

  async changesAfter(given: HistoryMark, limit: number): Promise<{ samples: KeptSample[]; mark: HistoryMark }> {
    const { id } = await this.mark();
    let seq = id === given.id ? given.seq : 0;
    const samples: KeptSample[] = [];
    for await (const change of this.#database.rows('changesAfter', { seq, limit }, { pageRows: PAGE_ROWS })) {
      seq = change.seq;
      if (change.sample !== undefined) samples.push(change.sample);
    }
    return { samples, mark: { id, seq } };
  }

  async pendingAfter(given: HistoryMark): Promise<number> {
    const { id } = await this.mark();
    return this.#database.call('pendingAfter', { seq: id === given.id ? given.seq : 0 });
  }

  hoursSince(timestamp: number): Promise<readonly (readonly [hour: number, samples: number])[]> {
    return this.#database.call('hoursSince', { timestamp });
  }

  timesOfHour(hour: number): Promise<readonly number[]> {
    return this.#database.call('timesOfHour', { hour });
  }

  async samplesAt(timestamps: readonly number[]): Promise<KeptSample[]> {
    const samples: KeptSample[] = [];
    for await (const sample of this.#database.rows('samplesAt', { timestamps }, { pageRows: PAGE_ROWS }))
      if (sample !== undefined) samples.push(sample);
    return samples;
  }

  unknownTimes(timestamps: readonly number[]): Promise<number[]> {
    return this.#database.call('unknownTimes', { timestamps });
  }

  restore(samples: readonly StoredPayload[]): Promise<void> {
    return whenUnlocked(() => this.#database.call('restore', { samples }));
  }

  async processUsage(request: UsageRequest): Promise<readonly SpanUsage[]> {
    return this.#reading(this.#database.call('processUsage', request, { timeoutMs: READ_MS }));
  }

  isImporting(): boolean {
    return this.#importing !== undefined;
  }

  oldestKept(): number {
    const { maxAgeDays } = this.#settings;
    return maxAgeDays === null ? Number.NEGATIVE_INFINITY : provenNowMs() / MS_PER_S - maxAgeDays * DAY_S;
  }

  /** Imports an earlier program's files, once at a time. Without `force`, a complete import is not repeated. */
  async import(force: boolean): Promise<Statements.ImportRecord> {
    if (this.#importing === undefined && !force) {
      const record = await this.#database.call('importRecord', undefined);
      if (record.completed) return { ...record, skipped: 0 };
    }
    if (this.#importing === undefined) {
      this.#importing = importLines(this.#database, this.#settings.linesDirectory).finally(() => {
        this.#importing = undefined;
        this.#other.store?.written();
      });
      this.#other.store?.importing();
    }
    return this.#importing;
  }

  async #chart(request: ChartRequest): Promise<Uint8Array> {
    const joined = await this.#other.chart(this.#database, request);
    return joined ?? this.#database.call('chart', request, { timeoutMs: READ_MS });
  }

  #read(): HistorySettings {
    return readSettings(this.#host.use('config.store').get('dumb.metrics'), this.#directory);
  }

  #open({ file }: HistorySettings): Database<typeof Statements> {
    return this.#host.database<typeof Statements>('metrics', {
      statements: 'history-statements',
      file,
      onCorrupt: 'replace',
      busyTimeoutMs: TRY_MS,
      maxBytes: MAX_BYTES,
      pageBytes: 16_384,
      canShrink: true,
    });
  }

  async #maintain(): Promise<void> {
    const { maxBytes } = this.#settings;
    const limits = { maxAgeDays: this.#ownAgeDays(), maxBytes, now: provenNowMs() / MS_PER_S };
    while (!this.#host.signal.aborted && (await whenUnlocked(() => this.#database.call('maintain', limits))));
    // Those that could not be read at the start.
    await this.#readUnread();
  }

  /** The age limit of the own file; it may be shorter while another store holds the samples. */
  #ownAgeDays(): number | null {
    const { maxAgeDays } = this.#settings;
    const local = this.#other.isActive ? this.#other.store?.localAgeDays() : undefined;
    return local === undefined ? maxAgeDays : Math.min(local, maxAgeDays ?? local);
  }

  /** Imports an earlier program's files, and reads the numbers of the samples that it kept in the own file. */
  async #catchUp(): Promise<void> {
    const database = this.#database;
    const tell = (what: string) => (error: unknown) => {
      // Another file was chosen meanwhile, or the plugin is being stopped.
      if (database !== this.#database || this.#host.signal.aborted) return;
      this.#host.log.error(`${what} cannot be read`, error);
    };
    const { importLines: imports, linesDirectory, file } = this.#settings;
    if (imports) await this.#importOnce().catch(tell(`what an earlier program kept in ${linesDirectory}`));
    await this.#readUnread().catch(tell(`what an earlier program kept in ${file}`));
  }

  async #importOnce(): Promise<void> {
    const { completed, files, samples, skipped } = await this.import(false);
    if (files > 0 && !completed)
      this.#host.log.warn(`${samples} samples of ${files} files were imported, ${skipped} lines were not`);
  }

  async #readUnread(): Promise<void> {
    while (!this.#host.signal.aborted && (await whenUnlocked(() => this.#database.call('readUnread', undefined))));
  }

  /** The first chart after a start takes several times as long as the others, unless it was made once before. */
  #rehearseSoon(): void {
    if (this.#host.signal.aborted) return;
    this.#rehearsal = setTimeout(() => void this.#rehearse(), this.#host.paced(REHEARSAL_MS));
  }

  async #rehearse(): Promise<void> {
    if (this.#other.isActive) return;
    try {
      await this.#database.call('rehearseChart', { now: Date.now() / MS_PER_S });
    } catch (error) {
      if (!this.#host.signal.aborted) this.#host.log.debug('the first chart is not made ready', error);
    }
  }

  async #reading<Value>(work: Promise<Value>): Promise<Value> {
    try {
      return await work;
    } catch (cause) {
      throw new Problem(503, 'Metrics history storage is unavailable.', { cause });
    }
  }
}

async function* none(): AsyncGenerator<never> {
  // Yields nothing.
}

/** Waits for the first piece, so that a failure to read is reported before the answer has begun. */
async function begun<Piece>(pieces: AsyncIterable<Piece>): Promise<AsyncIterable<Piece>> {
  const iterator = pieces[Symbol.asyncIterator]();
  const first = await iterator.next();
  return (async function* () {
    try {
      if (first.done === true) return;
      yield first.value;
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  })();
}
