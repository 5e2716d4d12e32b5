// Notices that the time of day was set ahead by hours, as where a machine without a clock of its own learns it late.
// The sleep of a machine is none of that.
import { timeAt } from './boot-clock.ts';

const MS_PER_S = 1_000;

/** As for cron(8): times that a smaller step has passed over are only late. */
export const LARGE_STEP_MS = 10_800_000;

export class ClockSteps {
  #boot = timeAt(0);

  /**
   * By how many milliseconds it was set ahead since the last call, or since this was made; 0 for less than three hours.
   */
  aheadMs(): number {
    const boot = timeAt(0);
    const aheadMs = (boot - this.#boot) * MS_PER_S;
    this.#boot = boot;
    return aheadMs > LARGE_STEP_MS ? aheadMs : 0;
  }
}
