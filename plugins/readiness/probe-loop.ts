// Looks at one run of a service again and again, and counts what it sees in a row.
import type { Timing } from './settings.ts';

/** A probe that has never passed does not fail: it stays unknown. */
export type ProbeState = 'unknown' | 'passing' | 'failing';

export interface ProbeLoopOptions {
  /** The state until a threshold is reached. */
  readonly initially: ProbeState;
  /** The first pause of a probe that has never passed; each next one is twice as long, up to the interval. */
  readonly firstPauseMs: number;
  /** Asked before each look; undefined ends the loop. */
  timing(): Timing | undefined;
  /** null when all is well, else the reason. */
  look(): Promise<string | null>;
  /** Called with null when the probe begins to pass, and with the reason when it begins to fail. */
  onChange(reason: string | null): void;
  /** Called when a failing probe has failed as often again as made it fail. */
  readonly onStillFailing?: ((reason: string) => void) | undefined;
}

export class ProbeLoop {
  readonly #options: ProbeLoopOptions;
  #timer: NodeJS.Timeout | undefined;
  #quickPauseMs: number;
  #state: ProbeState;
  #reason: string | null = null;
  #successes = 0;
  #failures = 0;
  #isLooking = false;
  #hasEnded = false;

  constructor(options: ProbeLoopOptions) {
    this.#options = options;
    this.#state = options.initially;
    this.#quickPauseMs = options.firstPauseMs;
    const timing = options.timing();
    if (timing !== undefined) this.#next(timing.initialDelayMs);
  }

  get state(): ProbeState {
    return this.#state;
  }

  /** The reason of the latest look, if that failed. */
  get reason(): string | null {
    return this.#reason;
  }

  /** What it is asked by has changed: that counts from now on, not after a pause of before. */
  again(): void {
    this.#quickPauseMs = this.#options.firstPauseMs;
    const timing = this.#options.timing();
    if (timing === undefined || this.#isLooking) return;
    clearTimeout(this.#timer);
    this.#next(timing.initialDelayMs);
  }

  end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
  }

  #next(ms: number): void {
    if (!this.#hasEnded) this.#timer = setTimeout(() => void this.#look(), ms).unref();
  }

  async #look(): Promise<void> {
    const timing = this.#options.timing();
    if (timing === undefined) return;
    this.#isLooking = true;
    // A look that could not be made, as for want of descriptors, does not count.
    const reason = await this.#options.look().catch(() => undefined);
    this.#isLooking = false;
    if (this.#hasEnded) return;
    if (reason !== undefined) this.#count(reason, timing);
    this.#next(this.#pauseMs(this.#options.timing() ?? timing));
  }

  /**
   * Short pauses at first: a starting service is mostly ready long before an interval is over, and others wait for it.
   */
  #pauseMs({ intervalMs }: Timing): number {
    if (this.#state !== 'unknown' || this.#successes > 0 || this.#quickPauseMs >= intervalMs) return intervalMs;
    const pauseMs = this.#quickPauseMs;
    this.#quickPauseMs = pauseMs * 2;
    return pauseMs;
  }

  #count(reason: string | null, { successThreshold, failureThreshold }: Timing): void {
    this.#reason = reason;
    this.#successes = reason === null ? this.#successes + 1 : 0;
    this.#failures = reason === null ? 0 : this.#failures + 1;
    if (this.#successes >= successThreshold && this.#state !== 'passing') this.#move('passing');
    if (reason === null || this.#failures < failureThreshold || this.#state === 'unknown') return;
    this.#failures = 0;
    if (this.#state === 'passing') this.#move('failing');
    else this.#options.onStillFailing?.(reason);
  }

  #move(state: ProbeState): void {
    this.#state = state;
    this.#options.onChange(this.#reason);
  }
}
