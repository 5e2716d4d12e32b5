// Plans retries, after pauses that double with each failure.
export interface RetryTimes {
  readonly firstMs: number;
  readonly maxMs: number;
}

export class Retries {
  readonly #again: (name: string) => Promise<void>;
  readonly #times: RetryTimes;
  readonly #planned = new Map<string, NodeJS.Timeout>();
  readonly #failures = new Map<string, number>();

  constructor(again: (name: string) => Promise<void>, times: RetryTimes) {
    this.#again = again;
    this.#times = times;
  }

  /** Returns the pause before the next try, in milliseconds. */
  plan(name: string): number {
    const { firstMs, maxMs } = this.#times;
    const failures = this.#failures.get(name) ?? 0;
    this.#failures.set(name, failures + 1);
    this.#drop(name);
    const pauseMs = Math.min(maxMs, firstMs * 2 ** failures);
    const timer = setTimeout(() => {
      this.#planned.delete(name);
      void this.#again(name);
    }, pauseMs);
    this.#planned.set(name, timer.unref());
    return pauseMs;
  }

  /** Called when a try has succeeded, or is no longer wanted. */
  forget(name: string): void {
    this.#drop(name);
    this.#failures.delete(name);
  }

  end(): void {
    for (const timer of this.#planned.values()) clearTimeout(timer);
    this.#planned.clear();
  }

  #drop(name: string): void {
    clearTimeout(this.#planned.get(name));
    this.#planned.delete(name);
  }
}
