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

/** Meters by key. The key of a process holds its start time, so that a pid that is used again begins anew. */
export class CpuMeter {
  #meters = new Map<string, Meter>();
  #seen = new Map<string, Meter>();

  /**
   * 100 when `value` (milliseconds of CPU time since some moment) grew as fast as the clock times `cores`; null for a
   * key that was not read 0.5 s or longer ago. A counter that went back counts as unchanged.
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

  /** The last percentage of a key that is not read in this round; what it uses counts with its next reading. */
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
