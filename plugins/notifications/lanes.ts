// Lanes: each destination has one, in which deliveries follow one another with a pause, so that a destination that
// hangs does not hold up the others.

/** How many lanes may be busy at once. A delivery that takes longer than `LONG_MS` no longer counts. */
const MAX_BUSY = 4;
const LONG_MS = 1_000;
const MAX_PAUSE_MS = 3_600_000;

interface Lane {
  startedMs: number | null;
  /** When the next delivery may begin. */
  freeAtMs: number;
  lastServedMs: number;
}

export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  readonly #pauseMs: number;

  /** `pauseMs` is the time between the beginnings of two deliveries of a lane. */
  constructor(pauseMs: number) {
    this.#pauseMs = pauseMs;
  }

  /** Those of these destinations whose lane is free now, the least recently served first; at most `slots` may begin. */
  free(ids: readonly string[], nowMs: number): { readonly free: readonly string[]; readonly slots: number } {
    for (const [id, { startedMs }] of this.#lanes) if (startedMs === null && !ids.includes(id)) this.#lanes.delete(id);
    const busy = [...this.#lanes.values()].filter(({ startedMs }) => startedMs !== null && nowMs - startedMs < LONG_MS);
    const free = ids
      .map(id => ({ id, lane: this.#of(id) }))
      .filter(({ lane }) => lane.startedMs === null && lane.freeAtMs <= nowMs)
      .sort((a, b) => a.lane.lastServedMs - b.lane.lastServedMs);
    return { free: free.map(({ id }) => id), slots: Math.max(MAX_BUSY - busy.length, 0) };
  }

  begin(id: string, nowMs: number): void {
    const lane = this.#of(id);
    lane.startedMs = nowMs;
    lane.lastServedMs = nowMs;
    lane.freeAtMs = nowMs + this.#pauseMs;
  }

  /** `askedMs` is the pause that the receiver asks for. */
  end(id: string, nowMs: number, askedMs = 0): void {
    const lane = this.#of(id);
    lane.startedMs = null;
    lane.freeAtMs = Math.max(lane.freeAtMs, nowMs + Math.min(askedMs, MAX_PAUSE_MS));
  }

  /** The first time after `timeMs` at which a lane becomes free, or no longer counts as busy; undefined for none. */
  nextAfter(timeMs: number): number | undefined {
    const times = [...this.#lanes.values()].map(({ startedMs, freeAtMs }) =>
      startedMs === null ? freeAtMs : startedMs + LONG_MS,
    );
    const next = times.filter(time => time > timeMs);
    return next.length === 0 ? undefined : Math.min(...next);
  }

  #of(id: string): Lane {
    const lane = this.#lanes.get(id) ?? { startedMs: null, freeAtMs: 0, lastServedMs: 0 };
    this.#lanes.set(id, lane);
    return lane;
  }
}
