// The restart counters and the planned restart of one process.
import type { WantedState } from '../process/contract.ts';
import type { RestartReport } from './contract.ts';
import type { Policy } from './policies.ts';
import { RestartWindow } from './restart-policy.ts';

const DEFAULT_WINDOW_MS = 300_000;
const DEFAULT_THRESHOLD = 3;
const MS_PER_S = 1_000;

export class Watch {
  readonly window = new RestartWindow();
  attempts = 0;
  successes = 0;
  failures = 0;
  unhealthyCount = 0;
  /** Monotonic milliseconds of the last health check. */
  checkedMs = Number.NEGATIVE_INFINITY;
  /** Monotonic milliseconds of the next attempt; infinite when no attempt is allowed, null when none is planned. */
  dueMs: number | null = null;
  /** Pid of the process when its restart was planned, null when it did not run: another run is not to be restarted. */
  plannedPid: number | null = null;
  reason = '';
  lastAt: number | null = null;
  lastFailureReason: string | null = null;
  awaitingRecovery = false;
  /** Whether the limit was reached and told; until an attempt is allowed again or has succeeded, it is told no more. */
  suppressed = false;
  busy = false;
  /** Whether another plugin has asked for a restart, until that has succeeded or is cancelled. */
  isAsked = false;
  #wanted: WantedState | null;

  constructor(wanted: WantedState | null) {
    this.#wanted = wanted;
  }

  /**
   * Follows what users want: a start by hand since the last check resets the window and the reason of the last failure,
   * a stop by hand cancels what is planned.
   */
  applyWanted(wanted: WantedState | null): void {
    if (wanted === this.#wanted) return;
    this.#wanted = wanted;
    if (wanted?.state !== 'stopped') {
      this.window.clear();
      this.suppressed = false;
      this.lastFailureReason = null;
    }
    this.cancel();
  }

  /** Cancels a planned restart and a pending recovery; totals and the window stay. */
  cancel(): void {
    this.cancelPlan();
    this.unhealthyCount = 0;
    this.awaitingRecovery = false;
  }

  cancelPlan(): void {
    this.isAsked = false;
    this.dueMs = null;
  }

  /** Whether a healthy answer would change something. */
  get hopesForHealth(): boolean {
    return this.awaitingRecovery || this.dueMs !== null;
  }

  report(policy: Policy | undefined): RestartReport {
    const now = performance.now();
    const pending = this.dueMs !== null && Number.isFinite(this.dueMs);
    return {
      attempts: this.attempts,
      successes: this.successes,
      failures: this.failures,
      recentAttempts: this.window.recent(now, policy?.windowMs ?? DEFAULT_WINDOW_MS),
      pending,
      nextAt: pending && this.dueMs !== null ? toTenth((Date.now() + this.dueMs - now) / MS_PER_S) : null,
      lastAt: this.lastAt,
      lastFailureReason: this.lastFailureReason,
      unhealthyCount: this.unhealthyCount,
      unhealthyThreshold: policy?.threshold ?? DEFAULT_THRESHOLD,
      awaitingRecovery: this.awaitingRecovery,
    };
  }
}

/** Rounds to tenths of a second, because a time that is computed from two clocks differs a little at each look. */
function toTenth(seconds: number): number {
  return Math.round(seconds * 10) / 10;
}
