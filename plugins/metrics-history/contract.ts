// What the history gives to another store that holds it too, and what it asks of that store.
import type { Point } from './codec/compact-item.ts';
import type { Ranges } from './ranges.ts';
import type { StoreTotals, storeTotals } from './store-totals.ts';

export type { Ranges };

/** A sample as it is handed to another store. */
export interface KeptSample {
  /** Unix seconds; no two samples have the same. */
  readonly timestamp: number;
  /** Its JSON text, by zlib. */
  readonly payload: Uint8Array;
  /** The JSON text of what charts need of it, by zlib. */
  readonly item: Uint8Array;
  /** Bytes of the text. */
  readonly rawBytes: number;
  readonly point: Point;
}

/** Up to where samples were handed over: the number of the last change, in the file that has this id. */
export interface HistoryMark {
  readonly id: string;
  readonly seq: number;
}

/** The samples of the own file. Each call rejects with a Problem 503 when the file cannot be read. */
export interface MetricsHistory {
  /** The present file, and the number of its last change. */
  mark(): Promise<HistoryMark>;
  /**
   * Samples that were written after a mark, in the order in which they were, and the mark up to which these go. Those
   * of another file than the mark's are all of its samples that have a number.
   */
  changesAfter(
    mark: HistoryMark,
    limit: number,
  ): Promise<{ readonly samples: KeptSample[]; readonly mark: HistoryMark }>;
  /** How many samples were written after a mark. */
  pendingAfter(mark: HistoryMark): Promise<number>;
  /** The number of samples in each hour, counted from 1970 on, that has any; only of hours that end after this time. */
  hoursSince(timestamp: number): Promise<readonly (readonly [hour: number, samples: number])[]>;
  timesOfHour(hour: number): Promise<readonly number[]>;
  samplesAt(timestamps: readonly number[]): Promise<KeptSample[]>;
  /**
   * Those of these times of which the own file never knew anything: what it removed or thinned out is not among them.
   */
  unknownTimes(timestamps: readonly number[]): Promise<number[]>;
  /** Takes samples that another store holds, in place of those of the same times. They do not count as changes. */
  restore(samples: readonly StoredPayload[]): Promise<void>;
  /** Whether files of an earlier program are being imported. */
  isImporting(): boolean;
  /** What processes used in each of these spans. Without names every process counts. */
  processUsage(request: {
    readonly spans: readonly TimeSpan[];
    readonly names: readonly string[];
  }): Promise<readonly SpanUsage[]>;
  /** Samples before this time are removed from every store, in Unix seconds; minus infinity for no limit. */
  oldestKept(): number;
  /** How answers tell what another store holds. */
  readonly totals: typeof storeTotals;
}

/** A part of the time: from `from` on, and before `before`, in Unix seconds. Either may be infinite. */
export interface TimeSpan {
  readonly from: number;
  readonly before: number;
}

/** Of the numbers that were read in one span of time. */
export interface NumberSummary {
  readonly samples: number;
  readonly average: number;
  readonly median: number;
  readonly p95: number;
  readonly maximum: number;
  readonly minimum: number;
}

/** What one process and its descendants used in one span of time; null where nothing was measured. */
export interface ProcessUsageSummary {
  readonly processName: string;
  /** How many of the samples that were read have the process. */
  readonly samples: number;
  /** Unix seconds of the first and the last of them. */
  readonly first: number;
  readonly last: number;
  /** In the order in which they were seen. */
  readonly pids: readonly number[];
  readonly cpuPercent: NumberSummary | null;
  readonly rssBytes: NumberSummary | null;
  readonly readBytesPerSecond: number | null;
  readonly writtenBytesPerSecond: number | null;
}

export interface SpanUsage {
  /** How many samples were read. */
  readonly samples: number;
  /** Whether there are more, between those that were read or after them. */
  readonly truncated: boolean;
  readonly processes: readonly ProcessUsageSummary[];
}

export interface StoredPayload {
  readonly timestamp: number;
  /** The JSON text of the sample, by zlib. */
  readonly payload: Uint8Array;
}

export interface StoredItem extends StoredPayload {
  /** Whether the payload is what charts need of the sample, which takes less to read than the whole. */
  readonly isItem: boolean;
}

export interface HistoryStoreStatus {
  readonly lastError: string | null;
  /** Unix seconds. */
  readonly lastSuccess: number | null;
  /** null when the store cannot be asked. */
  readonly totals: StoreTotals | null;
  readonly sync: {
    readonly state: 'idle' | 'reconciling' | 'backoff';
    readonly pendingSamples: number;
    /** Unix seconds. */
    readonly nextAttemptAt: number | null;
  };
}

/**
 * Another store of the history, contributed under the name that `dumb.metrics.storage.provider` has for it. It reads
 * new samples by itself from the service `metrics.history`. A read that fails is answered from the own file; the store
 * is not to be read again until it holds everything.
 */
export interface HistoryStore {
  /** Up to where it holds every sample; null while it must not be read from. */
  holds(): HistoryMark | null;
  /** Told after each write and import. */
  written(): void;
  /** Told when an import begins: the store must not be read from until it has been compared with the own file. */
  importing(): void;
  /** Age after which samples may leave the own file while the store holds them. */
  localAgeDays(): number;
  status(options: { readonly probe: boolean }): Promise<HistoryStoreStatus>;
  bounds(): Promise<{ readonly oldest: number | null; readonly newest: number | null }>;
  /** The last sample of each span of `bucketSeconds` that has one, in order. */
  lastOfBuckets(span: TimeSpan & { readonly bucketSeconds: number }): Promise<StoredItem[]>;
  /**
   * The least and greatest of all samples. The rates of the first one do not count. Not whole when that would take too
   * long.
   */
  ranges(span: TimeSpan): Promise<{ readonly ranges: Ranges | null; readonly isWhole: boolean }>;
  /** The time of the oldest of the newest `limit` samples, null without any; and whether there are older ones. */
  newestOf(
    span: TimeSpan & { readonly limit: number },
  ): Promise<{ readonly from: number | null; readonly truncated: boolean }>;
  /** The first `limit` samples after a time, in order. */
  page(request: { readonly after: number; readonly before: number; readonly limit: number }): Promise<StoredPayload[]>;
}

declare module '#core' {
  interface Services {
    /** The samples of the own file, for stores that hold them too. */
    'metrics.history': MetricsHistory;
  }
  interface Contributions {
    /** Another store of the history of metrics, which is read while it holds everything. */
    'metrics.history-store': HistoryStore;
  }
}
