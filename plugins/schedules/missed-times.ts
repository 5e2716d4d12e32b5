// Counts the times of a schedule that were missed, in words for the log.
import { Cron } from 'croner';

/** Counting stops at this number. */
const MAX_COUNTED = 1_000;

export interface MissedTimes {
  /** Such as `a time` or `3 times`. */
  readonly words: string;
  readonly last: Date;
}

/** The times after `after` and before `before`; null when there are none. */
export function missedTimes(
  cron: string,
  timeZone: string | undefined,
  { after, before }: { readonly after: Date; readonly before: Date },
): MissedTimes | null {
  const times = new Cron(cron, { paused: true, ...(timeZone === undefined ? {} : { timezone: timeZone }) });
  const [last] = times.previousRuns(1, before);
  if (last === undefined || last <= after) return null;
  let count = 0;
  for (
    let next = times.nextRun(after);
    next !== null && next < before && count < MAX_COUNTED;
    next = times.nextRun(next)
  )
    count += 1;
  const many = count === MAX_COUNTED ? `at least ${count} times` : `${count} times`;
  return { words: count === 1 ? 'a time' : many, last };
}
