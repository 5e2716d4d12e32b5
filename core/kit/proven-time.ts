// The time of day for code that removes old data: a clock that was set ahead counts only after a day. A wrong clock
// that a time server corrects after minutes would otherwise cost weeks of data. A sleep of the machine does not count
// as a setting.
import { ticksNow, timeAt } from './boot-clock.ts';

const MS_PER_S = 1_000;
const TICKS_PER_S = 100;
const PROOF_TICKS = 86_400 * TICKS_PER_S;
/** Times of the boot that differ by less belong to the same setting of the clock. */
const SAME_S = 60;

/** When the machine booted, in Unix seconds by a clock that is believed. */
let believedBoot = timeAt(0);
let doubted: { readonly boot: number; readonly sinceTicks: number } | undefined;

/** Unix milliseconds; never ahead of the clock. Each call notices a setting of the clock since the call before. */
export function provenNowMs(): number {
  const boot = timeAt(0);
  if (isSame(boot, believedBoot)) believe(boot);
  else if (doubted === undefined || !isSame(boot, doubted.boot)) doubted = { boot, sinceTicks: ticksNow() };
  else if (ticksNow() - doubted.sinceTicks >= PROOF_TICKS) believe(boot);
  return Date.now() - Math.max(0, boot - believedBoot) * MS_PER_S;
}

function believe(boot: number): void {
  believedBoot = boot;
  doubted = undefined;
}

function isSame(boot: number, other: number): boolean {
  return Math.abs(boot - other) <= SAME_S;
}
