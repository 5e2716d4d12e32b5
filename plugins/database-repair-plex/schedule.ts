// Decides when the tool runs: once in each interval, as soon as the server does not run or nobody uses it. A server in
// use is asked again after pauses that grow.
import type { RepairSettings } from './settings.ts';

/** A time further in the future comes from a clock that has been set back since, so it is ignored. */
const CLOCK_SLACK_MS = 3_600_000;

interface Wait {
  readonly sinceMs: number;
  readonly pauseMs: number;
  readonly nextMs: number;
}

/** All times are milliseconds since the epoch. */
export class RepairSchedule {
  readonly #waits = new Map<string, Wait>();
  readonly #givenUp = new Map<string, number>();

  /** Whether the server is to be asked now whether it is idle; `runsMs` are the times of earlier runs. */
  isDue(name: string, settings: RepairSettings, runsMs: readonly number[], nowMs: number): boolean {
    const known = [...runsMs, this.#givenUp.get(name) ?? 0].filter(atMs => atMs <= nowMs + CLOCK_SLACK_MS);
    const from = Math.max(0, ...known);
    if (!settings.enabled || (from > 0 && nowMs - from < settings.intervalMs)) {
      this.#waits.delete(name);
      return false;
    }
    const wait = this.#waits.get(name);
    if (wait === undefined || nowMs >= wait.nextMs) return true;
    const isAhead = wait.nextMs > nowMs + wait.pauseMs + CLOCK_SLACK_MS;
    if (isAhead) this.#waits.delete(name);
    return isAhead;
  }

  /** Called when the server is in use. Returns false when it was in use for so long that this interval is given up. */
  putOff(name: string, settings: RepairSettings, nowMs: number): boolean {
    const before = this.#waits.get(name);
    const sinceMs = before?.sinceMs ?? nowMs;
    if (settings.maxWaitMs > 0 && nowMs - sinceMs >= settings.maxWaitMs) {
      this.#waits.delete(name);
      this.#givenUp.set(name, nowMs);
      return false;
    }
    const pauseMs = before === undefined ? settings.idleCheckMs : before.pauseMs * settings.backoff;
    const limited = Math.min(pauseMs, Math.max(settings.maxPauseMs, settings.idleCheckMs));
    this.#waits.set(name, { sinceMs, pauseMs: limited, nextMs: nowMs + limited });
    return true;
  }
}
