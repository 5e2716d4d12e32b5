// Runs a piece of work at once if its last run is long ago, and otherwise once for all calls until a pause is over.

/** The part of the time that the work may take while it is called all the time. */
const WORK_SHARE = 0.1;

export class Throttle {
  readonly #work: () => void;
  readonly #pauseMs: number;
  readonly #leastMs: number;
  #timer: NodeJS.Timeout | undefined;
  #ranMs = Number.NEGATIVE_INFINITY;
  #tookMs = 0;

  /**
   * `pauseMs` lies between the beginnings of two runs. With `leastMs` the pause is shorter for quick work: ten times as
   * long as the last run took, but at least `leastMs`.
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
