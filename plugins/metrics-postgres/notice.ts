// A bell: whoever waits hears the next ring, or one that nobody has heard yet.

export class Notice {
  #hasRung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#hasRung = true;
    this.#wake?.();
  }

  /** Resolves at a ring, after `ms` milliseconds, or when one of the signals aborts. One waits at a time. */
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
