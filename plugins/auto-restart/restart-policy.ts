// When a process may be restarted: a growing delay per attempt, and a limit of attempts within a sliding window.

export interface RestartLimits {
  readonly maxRestarts: number;
  readonly windowMs: number;
  /** Delay by number of attempts in the window; beyond the end the last one counts, empty means none. */
  readonly backoffMs: readonly number[];
}

export type RestartDecision =
  | { readonly kind: 'after'; readonly delayMs: number }
  /** The limit is reached; the oldest attempt leaves the window after `delayMs`, or never when no attempt is allowed. */
  | { readonly kind: 'suppressed'; readonly delayMs: number };

export class RestartWindow {
  #attempts: number[] = [];

  /** All times are monotonic milliseconds, so a jump of the clock changes nothing. */
  recent(nowMs: number, windowMs: number): number {
    this.#attempts = this.#attempts.filter(at => nowMs - at < windowMs);
    return this.#attempts.length;
  }

  decide(nowMs: number, { maxRestarts, windowMs, backoffMs }: RestartLimits): RestartDecision {
    const recent = this.recent(nowMs, windowMs);
    if (recent < maxRestarts) return { kind: 'after', delayMs: backoffMs[Math.min(recent, backoffMs.length - 1)] ?? 0 };
    const [oldest] = this.#attempts.slice(-Math.max(maxRestarts, 1));
    const free = maxRestarts === 0 || oldest === undefined ? Number.POSITIVE_INFINITY : oldest + windowMs - nowMs;
    return { kind: 'suppressed', delayMs: free };
  }

  record(nowMs: number): void {
    this.#attempts.push(nowMs);
  }

  clear(): void {
    this.#attempts = [];
  }
}
