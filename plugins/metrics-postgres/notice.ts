// A wake-up signal for one waiting task: a ring ends its wait, or the next wait if none is in progress.

export class Notice {
  #hasRung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#hasRung = true;
    this.#wake?.();
  }

  /** Resolves at a ring, after `ms` milliseconds, or when one of the signals aborts. Only one wait at a time. */
  async wait(ms: number, signals: readonly AbortSignal[]): Promise<void> {
    if (!this.#hasRung && !signals.some(({ aborted }) => aborted))
      await new Promise<void>(resolve => {
        const wake = (): void => {
          clearTimeout(timer);
          for (const signal of signals) signal.removeEventListener('abort', wake);
          resolve();
        };
        const timer = setTimeout(wake, ms);
        for (const signal of signals) signal.addEventListener('abort', wake);
        this.#wake = wake;
      });
    this.#hasRung = false;
  }
}
