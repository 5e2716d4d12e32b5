// When a scheduled backup is due: the arithmetic of start times, intervals and clocks that change.
import { Cron } from 'croner';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** No clock is further from UTC, or has a gap that is longer. */
const CLOCK_MS = 36 * HOUR_MS;

export interface Rhythm {
  readonly intervalHours: number;
  /** HH:MM on the wall clock of the time zone. */
  readonly startTime: string;
  /** IANA name. */
  readonly timeZone: string;
}

/**
 * The first time that is due after `lastDue`, or without one the next start time after `now`. Whole days are counted on
 * the calendar and begin at the start time; anything else is counted in hours.
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

/** The last time that was due up to `now`, of those that follow `due` in this rhythm; `due` is not later than `now`. */
export function lastDueUpTo(due: Date, now: Date, rhythm: Rhythm): Date {
  const intervalMs = rhythm.intervalHours * HOUR_MS;
  // One step less than fits, because days are not all of the same length.
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

/** The start time on a day; where clocks skip it, the first moment after the gap. */
function startOn(day: Date, { startTime, timeZone }: Rhythm): Date {
  const [hours, minutes] = startTime.split(':');
  const expression = `0 ${Number(minutes)} ${Number(hours)} ${day.getUTCDate()} ${day.getUTCMonth() + 1} *`;
  const found = new Cron(expression, { timezone: timeZone, paused: true }).nextRun(new Date(day.getTime() - CLOCK_MS));
  if (found === null) throw new Error(`${startTime} does not come on ${day.toISOString()}`);
  return found;
}
