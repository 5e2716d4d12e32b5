// Decides when the tool runs: once in each interval, as soon as the server does not run or nobody uses it. A server in use
// is asked again after pauses that grow.
import type { RepairSettings } from './settings.ts';

interface Wait {
  readonly sinceMs: number;
  readonly pauseMs: number;
  readonly nextMs: number;
}

/** All times are milliseconds since the epoch. */
export class RepairSchedule {
  readonly #waits = new Map<string, Wait>();
  readonly #givenUp = new Map<string, number>();

  /** Whether the server is to be asked now whether it is idle; `lastMs` is the time of the last run, or 0. */
  isDue(name: string, settings: RepairSettings, lastMs: number, nowMs: number): boolean {
    const from = Math.max(lastMs, this.#givenUp.get(name) ?? 0);
    if (!settings.enabled || (from > 0 && nowMs - from < settings.intervalMs)) {
      this.#waits.delete(name);
      return false;
    }
    return nowMs >= (this.#waits.get(name)?.nextMs ?? 0);
  }

  /** The server is in use. False when it has been for so long that the next interval is waited for. */
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
