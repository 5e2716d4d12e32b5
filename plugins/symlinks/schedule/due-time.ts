// When a scheduled backup is due: the arithmetic of start times, intervals and clocks that change.
import { Cron } from 'croner';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** More than any time zone differs from UTC, including the longest gap of a clock change. */
const CLOCK_MS = 36 * HOUR_MS;

export interface Rhythm {
  readonly intervalHours: number;
  /** HH:MM on the wall clock of the time zone. */
  readonly startTime: string;
  /** IANA name. */
  readonly timeZone: string;
}

/**
 * The first due time after `lastDue`, or, when that is null, the next start time after `now`. Intervals of whole days
 * are counted on the calendar and begin at the start time; others are counted in hours.
 */
export function dueAfter(lastDue: Date | null, now: Date, rhythm: Rhythm): Date {
  const { intervalHours, timeZone } = rhythm;
  if (lastDue === null) {
    const today = dayOf(now, timeZone);
    const at = startOn(today, rhythm);
    return at > now ? at : startOn(new Date(today.getTime() + DAY_MS), rhythm);
  }
  if (intervalHours % 24 !== 0) return new Date(lastDue.getTime() + intervalHours * HOUR_MS);
  return startOn(new Date(dayOf(lastDue, timeZone).getTime() + intervalHours * HOUR_MS), rhythm);
}

/** The last due time up to `now`, counted in this rhythm from `due`, which must not be later than `now`. */
export function lastDueUpTo(due: Date, now: Date, rhythm: Rhythm): Date {
  const intervalMs = rhythm.intervalHours * HOUR_MS;
  // One interval less than fits, because days differ in length.
  const steps = Math.max(0, Math.floor((now.getTime() - due.getTime()) / intervalMs) - 1);
  let last = steps === 0 ? due : dueAfter(due, now, { ...rhythm, intervalHours: steps * rhythm.intervalHours });
  for (let next = dueAfter(last, now, rhythm); next <= now; next = dueAfter(last, now, rhythm)) last = next;
  return last;
}

/** The day of the calendar on which the moment lies, as the UTC midnight of its date. */
function dayOf(moment: Date, timeZone: string): Date {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  return new Date(`${format.format(moment)}T00:00:00Z`);
}

/** The start time on a day; if a clock change skips it, the first moment after the gap. */
function startOn(day: Date, { startTime, timeZone }: Rhythm): Date {
  const [hours, minutes] = startTime.split(':');
  const expression = `0 ${Number(minutes)} ${Number(hours)} ${day.getUTCDate()} ${day.getUTCMonth() + 1} *`;
  const found = new Cron(expression, { timezone: timeZone, paused: true }).nextRun(new Date(day.getTime() - CLOCK_MS));
  if (found === null) throw new Error(`${startTime} does not come on ${day.toISOString()}`);
  return found;
}
