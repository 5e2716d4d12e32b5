// What the exporter offers to other plugins: a point for numbers of their own.

/** One number. */
export interface MetricSample {
  /** Names as `[a-z][a-z0-9_]*`; values may be any text. */
  readonly labels?: Readonly<Record<string, string>>;
  /** null where it is unknown; it is left out then. */
  readonly value: number | null;
}

/** Numbers of one kind, as Prometheus knows them: https://prometheus.io/docs/concepts/metric_types/ */
export interface MetricFamily {
  /** With its unit, as in `process_memory_bytes`; without the prefix of the product, and without `_total`. */
  readonly name: string;
  /** One sentence. */
  readonly help: string;
  /** A counter only grows, or begins again. */
  readonly type: 'gauge' | 'counter';
  readonly samples: readonly MetricSample[];
}

/** The numbers of one area. */
export interface ExportedMetrics {
  /** Called for each answer. One that fails or is late is left out of it. */
  families(): readonly MetricFamily[] | Promise<readonly MetricFamily[]>;
}

declare module '#core' {
  interface Contributions {
    /** Numbers that `GET /metrics/prometheus` tells. */
    'prometheus.metrics': ExportedMetrics;
  }
}
