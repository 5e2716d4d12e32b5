// The spans of time that one entry of a chart stands for.

const DEFAULT_BUCKET_S = 5;
/** Times of today lose less than this in a subtraction. */
const ROUNDING_S = 1e-3;
/** A usual chart needs fewer. */
const SINGLE_STEPS = 16;

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

/**
 * Buckets to try, in seconds, the first one first: each is a second longer than the one before. Those of few entries
 * for many years may need a hundred thousand more seconds, so that the steps grow in the end.
 */
export function* bucketsFrom(first: number): Generator<number> {
  let bucket = first;
  for (let step = 1, steps = 1; ; steps += 1) {
    yield bucket;
    bucket += step;
    if (steps >= SINGLE_STEPS) step *= 2;
  }
}

/** The greatest number below this one that a time can be. */
export function justBefore(seconds: number): number {
  return seconds - 1e-6;
}
