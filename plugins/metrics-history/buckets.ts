// The spans of time that one entry of a chart stands for.

const DEFAULT_BUCKET_S = 5;

/** Seconds. A bucket may begin before the window, so that there is one entry more than fits. */
export function bucketFor(chart: {
  readonly from: number;
  readonly until: number;
  /** null for automatic. */
  readonly bucketSeconds: number | null;
  readonly maxPoints: number;
}): number {
  const automatic = Math.ceil(Math.max(1, chart.until - chart.from) / chart.maxPoints);
  return Math.max(chart.bucketSeconds ?? DEFAULT_BUCKET_S, automatic);
}

/** The greatest number below this one that a time can be. */
export function justBefore(seconds: number): number {
  return seconds - 1e-6;
}
