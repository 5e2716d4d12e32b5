// Runs a piece of work at once when it rests, and otherwise once for all calls that come before its pause is over.

/** Of the time, what the work may take while it is called without end. */
const WORK_SHARE = 0.1;

export class Throttle {
  readonly #work: () => void;
  readonly #pauseMs: number;
  readonly #leastMs: number;
  #timer: NodeJS.Timeout | undefined;
  #ranMs = Number.NEGATIVE_INFINITY;
  #tookMs = 0;

  /**
   * The pause lies between the beginnings of two runs. With `leastMs` it is as much shorter as the work takes little
   * time, but no shorter than that.
   */
  constructor(work: () => void, pauseMs: number, leastMs = pauseMs) {
    this.#work = work;
    this.#pauseMs = pauseMs;
    this.#leastMs = leastMs;
  }

  /** Has the work run after this turn of the event loop, or when the pause is over. */
  call(): void {
    const pauseMs = Math.min(this.#pauseMs, Math.max(this.#leastMs, this.#tookMs / WORK_SHARE));
    const leftMs = Math.max(0, this.#ranMs + pauseMs - performance.now());
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
    this.#tookMs = performance.now() - this.#ranMs;
  }
}
