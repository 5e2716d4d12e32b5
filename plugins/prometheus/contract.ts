// The point by which plugins export numbers of their own.

/** One number. */
export interface MetricSample {
  /** Names of labels match `[a-z][a-z0-9_]*`; values may be any text. */
  readonly labels?: Readonly<Record<string, string>>;
  /** null when the number is unknown; the sample is then left out. */
  readonly value: number | null;
}

/** Numbers of one kind, a metric of Prometheus: https://prometheus.io/docs/concepts/metric_types/ */
export interface MetricFamily {
  /**
   * Name with its unit, as in `process_memory_bytes`; without the prefix of the product.
   * It must not end with `_total` or `_created`, which are kept for counters.
   */
  readonly name: string;
  /** What the numbers are, in one sentence. */
  readonly help: string;
  /** A counter only grows, or begins anew after a restart. */
  readonly type: 'gauge' | 'counter';
  readonly samples: readonly MetricSample[];
}

/** The numbers of one area. */
export interface ExportedMetrics {
  /** Called for each answer. If the call fails or is late, its numbers are left out of that answer. */
  families(): readonly MetricFamily[] | Promise<readonly MetricFamily[]>;
}

declare module '#core' {
  interface Contributions {
    /** Numbers in the answer of `GET /metrics/prometheus`. */
    'prometheus.metrics': ExportedMetrics;
  }
}
