// The times at which updates are checked for: at a start time on the wall clock, and then at an interval in hours.

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** More than any clock is set back at a change. */
const REPEATED_MS = 4 * HOUR_MS;

export interface Rhythm {
  /** At least 1. */
  readonly intervalHours: number;
  /** HH:MM on the wall clock of the time zone. */
  readonly startTime: string;
  /** IANA name. */
  readonly timeZone: string;
}

/** The day on which the moment lies in the time zone, as the UTC midnight of its date. */
export function dayOf(moment: Date, { timeZone }: Rhythm): Date {
  return new Date(Math.floor(wallClock(moment.getTime(), timeZone) / DAY_MS) * DAY_MS);
}

/** The day of the next start time: today while the start time is still ahead, else tomorrow. */
export function nextStartDay(moment: Date, rhythm: Rhythm): Date {
  const today = dayOf(moment, rhythm);
  return startOn(today, rhythm) > moment.getTime() ? today : new Date(today.getTime() + DAY_MS);
}

/**
 * The first due time after `moment`. Due times begin at the start time of `day` and follow at the interval, on the wall
 * clock: one that a clock change skips is later by the gap, and one that is repeated counts once.
 */
export function dueAfter(moment: Date, day: Date, rhythm: Rhythm): Date {
  const { intervalHours, timeZone } = rhythm;
  const intervalMs = Math.max(60, Math.round(intervalHours * 60)) * MINUTE_MS;
  const beginMs = wallStart(day, rhythm);
  const passedMs = wallClock(moment.getTime(), timeZone) - REPEATED_MS - beginMs;
  for (let count = Math.max(0, Math.floor(passedMs / intervalMs)); ; count += 1) {
    const at = momentOf(beginMs + count * intervalMs, timeZone);
    if (at > moment.getTime()) return new Date(at);
  }
}

function startOn(day: Date, rhythm: Rhythm): number {
  return momentOf(wallStart(day, rhythm), rhythm.timeZone);
}

function wallStart(day: Date, { startTime }: Rhythm): number {
  const [hours, minutes] = startTime.split(':').map(Number);
  return day.getTime() + (hours ?? 0) * HOUR_MS + (minutes ?? 0) * MINUTE_MS;
}

/** The wall clock at a moment, as the Unix milliseconds at which a UTC clock shows the same. */
function wallClock(moment: number, timeZone: string): number {
  const parts = formatOf(timeZone).formatToParts(moment);
  const of = (type: string) => Number(parts.find(part => part.type === type)?.value);
  return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
}

/** The inverse of `wallClock`, computed from the offsets from UTC a day before and a day after. */
function momentOf(wall: number, timeZone: string): number {
  const offsetAt = (moment: number) => wallClock(moment, timeZone) - moment;
  const before = offsetAt(wall - DAY_MS);
  const after = offsetAt(wall + DAY_MS);
  const early = wall - before;
  return offsetAt(early) !== before && offsetAt(wall - after) === after ? wall - after : early;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone) ?? newFormat(timeZone);
  formats.set(timeZone, known);
  return known;
}

function newFormat(timeZone: string): Intl.DateTimeFormat {
  const [year, month, day, hour, minute, second] = Array<'numeric'>(6).fill('numeric');
  return new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', year, month, day, hour, minute, second });
}
