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
    const ended = AbortSignal.any([...signals]);
    if (!this.#hasRung && !ended.aborted)
      await new Promise<void>(resolve => {
        const wake = (): void => {
          clearTimeout(timer);
          ended.removeEventListener('abort', wake);
          this.#wake = undefined;
          resolve();
        };
        const timer = setTimeout(wake, ms);
        ended.addEventListener('abort', wake);
        this.#wake = wake;
      });
    this.#hasRung = false;
  }
}
