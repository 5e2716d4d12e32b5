// Decides when a process may be restarted: a growing delay per attempt, and a limit of attempts within a sliding
// window.

export interface RestartLimits {
  readonly maxRestarts: number;
  readonly windowMs: number;
  /**
   * Delays by number of attempts in the window; the last one also applies to further attempts, and an empty list means
   * no delay.
   */
  readonly backoffMs: readonly number[];
}

export type RestartDecision =
  | { readonly kind: 'after'; readonly delayMs: number }
  /**
   * The limit is reached. The oldest attempt leaves the window after `delayMs`; infinite when no attempt is allowed at
   * all.
   */
  | { readonly kind: 'suppressed'; readonly delayMs: number };

export class RestartWindow {
  #attempts: number[] = [];

  /** All times are monotonic milliseconds, so changes of the system clock have no effect. */
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
