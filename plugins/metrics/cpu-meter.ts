// Turns counters of CPU time into percentages. Readings that lie close together do not disturb each other: a percentage
// spans at least half a second.

const SHORTEST_SPAN_MS = 500;

interface Reading {
  readonly atMs: number;
  readonly value: number;
}

interface Meter {
  base: Reading;
  percent: number | null;
}

/** Meters by key. The key of a process contains its start time, so a pid that is used again gets a new meter. */
export class CpuMeter {
  #meters = new Map<string, Meter>();
  #seen = new Map<string, Meter>();

  /**
   * How fast `value`, a counter of CPU time in milliseconds, grows: 100 is as fast as the clock times `cores`. null
   * until the first reading of the key is 0.5 s old. A counter that went back counts as unchanged.
   */
  percent(key: string, value: number, nowMs: number, cores = 1): number | null {
    const known = this.#meters.get(key);
    const meter = known ?? { base: { atMs: nowMs, value }, percent: null };
    this.#seen.set(key, meter);
    const spanMs = nowMs - meter.base.atMs;
    if (spanMs < SHORTEST_SPAN_MS) return meter.percent;
    meter.percent = Math.round((Math.max(0, value - meter.base.value) / (spanMs * cores)) * 1_000) / 10;
    meter.base = { atMs: nowMs, value };
    return meter.percent;
  }

  /** The last percentage of a key that is not read in this round. Keeps its meter for the next round. */
  last(key: string): number | null {
    const known = this.#meters.get(key);
    if (known !== undefined) this.#seen.set(key, known);
    return known?.percent ?? null;
  }

  /** Ends a round of readings: keys that were not read in it are forgotten. */
  endRound(): void {
    this.#meters = this.#seen;
    this.#seen = new Map();
  }
}
