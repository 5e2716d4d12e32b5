// What the history offers to another store that holds it too, and what such a store must provide.
import type { Point } from './codec/compact-item.ts';
import type { Ranges } from './ranges.ts';
import type { StoreTotals, storeTotals } from './store-totals.ts';

export type { Ranges };

/** A sample as it is handed to another store. */
export interface KeptSample {
  /** Unix seconds; no two samples have the same time. */
  readonly timestamp: number;
  /** The JSON text, compressed by zlib. */
  readonly payload: Uint8Array;
  /** The JSON text of the part that charts need, compressed by zlib. */
  readonly item: Uint8Array;
  /** Bytes of the JSON text before compression. */
  readonly rawBytes: number;
  readonly point: Point;
}

/** The point up to which samples were handed over: the number of the last change, in the file with this id. */
export interface HistoryMark {
  readonly id: string;
  readonly seq: number;
}

/** The samples of the own file, the SQLite file of this plugin. Calls reject when the file cannot be read. */
export interface MetricsHistory {
  /** The present file, and the number of its last change. */
  mark(): Promise<HistoryMark>;
  /**
   * The first `limit` samples written after a mark, in the order of writing, and the mark after the last of them. A
   * mark of another file counts as the beginning of the present one. Restored samples are not among them.
   */
  changesAfter(
    mark: HistoryMark,
    limit: number,
  ): Promise<{ readonly samples: KeptSample[]; readonly mark: HistoryMark }>;
  /** How many samples were written after a mark; a mark of another file counts as the beginning of the present one. */
  pendingAfter(mark: HistoryMark): Promise<number>;
  /** The number of samples of each hour that has any, from the hour of `timestamp` on. Hours are counted from 1970. */
  hoursSince(timestamp: number): Promise<readonly (readonly [hour: number, samples: number])[]>;
  timesOfHour(hour: number): Promise<readonly number[]>;
  samplesAt(timestamps: readonly number[]): Promise<KeptSample[]>;
  /**
   * Of these times, those of which the own file never had a sample. Samples that were thinned out, or removed for lack
   * of space, count as had; times beyond the age limit must not be asked for.
   */
  unknownTimes(timestamps: readonly number[]): Promise<number[]>;
  /** Writes samples from another store, in place of those of the same times. They do not count as changes. */
  restore(samples: readonly StoredPayload[]): Promise<void>;
  /** Whether files of an earlier program are being imported. */
  isImporting(): boolean;
  /** What processes used in each of these spans. An empty list of names stands for every process. */
  processUsage(request: {
    readonly spans: readonly TimeSpan[];
    readonly names: readonly string[];
  }): Promise<readonly SpanUsage[]>;
  /** Samples before this time are removed from every store, in Unix seconds; minus infinity for no limit. */
  oldestKept(): number;
  /** The schema and the wire form of the totals of another store. */
  readonly totals: typeof storeTotals;
}

/** A span of time from `from`, inclusive, to `before`, exclusive, in Unix seconds. Either may be infinite. */
export interface TimeSpan {
  readonly from: number;
  readonly before: number;
}

/** A summary of the numbers that were read in one span of time. */
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
  /** How many of the samples that were read contain the process. */
  readonly samples: number;
  /** Unix seconds of the first such sample; `last` is that of the last one. */
  readonly first: number;
  readonly last: number;
  /** In the order in which they appeared. */
  readonly pids: readonly number[];
  readonly cpuPercent: NumberSummary | null;
  readonly rssBytes: NumberSummary | null;
  readonly readBytesPerSecond: number | null;
  readonly writtenBytesPerSecond: number | null;
}

export interface SpanUsage {
  /** How many samples were read. */
  readonly samples: number;
  /** Whether the span has more samples than were read. */
  readonly truncated: boolean;
  readonly processes: readonly ProcessUsageSummary[];
}

export interface StoredPayload {
  readonly timestamp: number;
  /** The JSON text of the sample, compressed by zlib. */
  readonly payload: Uint8Array;
}

export interface StoredItem extends StoredPayload {
  /** Whether the payload is only the part of the sample that charts need, which is cheaper to read. */
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
 * Another store of the history, contributed under its name in `dumb.metrics.storage.provider`. The store itself reads
 * new samples from the service `metrics.history`. A read that fails is answered from the own file; `holds` must then
 * give null until the store is complete again.
 */
export interface HistoryStore {
  /** The mark up to which the store holds every sample; null while it must not be read from. */
  holds(): HistoryMark | null;
  /** Called after each write and each import. */
  written(): void;
  /** Called when an import begins: the store must not be read from until it has been compared with the own file. */
  importing(): void;
  /** The age after which samples that the store holds are removed from the own file. */
  localAgeDays(): number;
  status(options: { readonly probe: boolean }): Promise<HistoryStoreStatus>;
  bounds(): Promise<{ readonly oldest: number | null; readonly newest: number | null }>;
  /** The last sample of each span of `bucketSeconds` that has one, in order. */
  lastOfBuckets(span: TimeSpan & { readonly bucketSeconds: number }): Promise<StoredItem[]>;
  /**
   * The extremes of all samples of a span, without the rates of the first sample. `isWhole` is false when some samples
   * were left out because reading them would take too long.
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
