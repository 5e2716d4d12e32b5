// The time of day for those who remove what is old: a clock that was set ahead counts only once it has stood so for a
// day. One that a time server mends after minutes would have taken weeks with it. A machine that slept is told from
// that.
import { ticksNow, timeAt } from './boot-clock.ts';

const MS_PER_S = 1_000;
const TICKS_PER_S = 100;
const PROOF_TICKS = 86_400 * TICKS_PER_S;
/** Two settings of the clock differ by more. */
const SAME_S = 60;

/** When the machine began, in Unix seconds by a clock that is believed. */
let believedBoot = timeAt(0);
let doubted: { readonly boot: number; readonly sinceTicks: number } | undefined;

/** Unix milliseconds; never ahead of the clock. What is set ahead between two calls is noticed by the second. */
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
