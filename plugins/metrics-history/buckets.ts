// The spans of time that one entry of a chart stands for.

const DEFAULT_BUCKET_S = 5;
/** Times of today lose less than this in a subtraction. */
const ROUNDING_S = 1e-3;

/**
 * Whole seconds. What a request is under way, a part of a second, is not time of its window. A bucket may begin before
 * the window, so that there is one entry more than fits.
 */
export function bucketFor(chart: {
  readonly from: number;
  readonly until: number;
  /** null for automatic. */
  readonly bucketSeconds: number | null;
  readonly maxPoints: number;
}): number {
  const windowS = Math.floor(chart.until - chart.from + ROUNDING_S);
  const automatic = Math.ceil(Math.max(1, windowS) / chart.maxPoints);
  return Math.max(chart.bucketSeconds ?? DEFAULT_BUCKET_S, automatic);
}

/** The greatest number below this one that a time can be. */
export function justBefore(seconds: number): number {
  return seconds - 1e-6;
}
