// The buckets of a chart: the spans of time that one entry stands for each.

const DEFAULT_BUCKET_S = 5;
/** A bound of the rounding error when two Unix times in seconds are subtracted. */
const ROUNDING_S = 1e-3;
/** How many buckets are tried in steps of one second; a usual chart needs fewer. */
const SINGLE_STEPS = 16;

/**
 * The size of a bucket in whole seconds. The fraction of a second that a request takes does not count as time of its
 * window. The first bucket may begin before the window, so there may be one entry more than `maxPoints`.
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
 * Sizes of buckets to try, in seconds, from `first` on. The steps are one second at first and then double, because a
 * chart of many years with few entries may need a hundred thousand seconds more.
 */
export function* bucketsFrom(first: number): Generator<number> {
  let bucket = first;
  for (let step = 1, steps = 1; ; steps += 1) {
    yield bucket;
    bucket += step;
    if (steps >= SINGLE_STEPS) step *= 2;
  }
}

/** The latest time before this one that a sample can have, in seconds. */
export function justBefore(seconds: number): number {
  return seconds - 1e-6;
}
