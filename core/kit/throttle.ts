// Runs a piece of work at once when it rests, and otherwise once for all calls that come before its pause is over.

export class Throttle {
  readonly #work: () => void;
  readonly #pauseMs: number;
  #timer: NodeJS.Timeout | undefined;
  #ranMs = Number.NEGATIVE_INFINITY;

  /** The pause lies between the beginnings of two runs. */
  constructor(work: () => void, pauseMs: number) {
    this.#work = work;
    this.#pauseMs = pauseMs;
  }

  /** Has the work run after this turn of the event loop, or when the pause is over. */
  call(): void {
    const leftMs = Math.max(0, this.#ranMs + this.#pauseMs - performance.now());
    this.#timer ??= setTimeout(() => this.#run(), leftMs);
  }

  /** Takes back the calls whose run has not begun. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #run(): void {
    this.#timer = undefined;
    this.#ranMs = performance.now();
    this.#work();
  }
}
