// Notices that the time of day was set ahead by hours, as on a machine without a hardware clock, which learns the time
// late. A sleep of the machine does not count.
import { timeAt } from './boot-clock.ts';

const MS_PER_S = 1_000;

/** The least step that counts, as for cron(8): a time that a smaller step has passed over is only late. */
export const LARGE_STEP_MS = 10_800_000;

export class ClockSteps {
  #boot = timeAt(0);

  /**
   * By how many milliseconds the clock was set ahead since the last call, or since the construction; 0 for three hours
   * or less.
   */
  aheadMs(): number {
    const boot = timeAt(0);
    const aheadMs = (boot - this.#boot) * MS_PER_S;
    this.#boot = boot;
    return aheadMs > LARGE_STEP_MS ? aheadMs : 0;
  }
}
