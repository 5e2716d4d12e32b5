// Times as PostgreSQL writes them in ISO style and in UTC, with as many digits of a second as the column keeps.
import { ValueFault } from './value-fault.ts';

const TIMESTAMP =
  /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,7}))?)?)? ?(?:Z|([+-])(\d\d)(?::?(\d\d))?)?$/;
const TIME = /^(\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,7}))?)?$/;
const TIME_SPAN = /^(-)?(?:(\d{1,8})\.)?(\d\d):(\d\d):(\d\d)(?:\.(\d{1,7}))?$/;
/** Integers from here on are milliseconds, smaller ones seconds. */
const MILLISECONDS_FROM = 100_000_000_000;
const MS_PER_S = 1_000;
const S_PER_MINUTE = 60;
const S_PER_HOUR = 3_600;
const S_PER_DAY = 86_400;
const MICROS_PER_S = 1_000_000;
const MICRO_DIGITS = 6;

/** Seconds since 1970, and the microseconds behind them. */
interface Instant {
  readonly seconds: number;
  readonly micros: number;
}

export function timestampText(
  value: bigint | number | string,
  { fractionDigits, hasZone }: { readonly fractionDigits: number; readonly hasZone: boolean },
): string {
  const zone = hasZone ? '+00' : '';
  return `${typeof value === 'string' ? ofText(value, fractionDigits) : ofInstant(instantOf(value), fractionDigits)}${zone}`;
}

/** Throws a ValueFault when the value has a time of day. */
export function dateText(value: bigint | number | string): string {
  const [date = '', time] = timestampText(value, { fractionDigits: MICRO_DIGITS, hasZone: false }).split(' ');
  if (time !== '00:00:00') throw new ValueFault('date');
  return date;
}

export function timeText(value: bigint | number | string, fractionDigits: number): string {
  const [, minutes, seconds = '00', fraction = ''] = TIME.exec(String(value)) ?? [];
  if (minutes === undefined || !isTimeOfDay(`${minutes}:${seconds}`)) throw new ValueFault('time');
  const micros = roundedMicros(fraction, fractionDigits);
  if (micros < MICROS_PER_S) return `${minutes}:${seconds}${fractionText(micros)}`;
  const next = secondsOf(minutes, seconds) + 1;
  // The server accepts the end of a day as a time.
  return next === S_PER_DAY ? '24:00:00' : clockText(next);
}

/** A span of the form `[-][d.]hh:mm:ss[.f]`, in the server's own style. */
export function intervalText(value: bigint | number | string, fractionDigits: number): string {
  const [, sign = '', days = '0', hours, minutes, seconds, fraction = ''] = TIME_SPAN.exec(String(value)) ?? [];
  if (hours === undefined || !isTimeOfDay(`${hours}:${minutes}:${seconds}`)) throw new ValueFault('interval');
  const micros = roundedMicros(fraction, fractionDigits);
  const total = secondsOf(`${hours}:${minutes}`, seconds ?? '') + Math.floor(micros / MICROS_PER_S);
  // A rounded second can make 24 hours, which the server does not turn into a day.
  const clock = `${clockText(total)}${fractionText(micros % MICROS_PER_S)}`;
  const isClockShown = total > 0 || micros % MICROS_PER_S > 0;
  const dayCount = Number(days);
  const dayWord = dayCount === 1 && sign === '' ? 'day' : 'days';
  if (dayCount === 0) return isClockShown ? `${sign}${clock}` : clock;
  return `${sign}${dayCount} ${dayWord}${isClockShown ? ` ${sign}${clock}` : ''}`;
}

function ofText(text: string, fractionDigits: number): string {
  const [, date, minutes = '00:00', seconds = '00', fraction = '', sign, zoneHours = '0', zoneMinutes = '0'] =
    TIMESTAMP.exec(text) ?? [];
  if (date === undefined || !isDate(date) || !isTimeOfDay(`${minutes}:${seconds}`)) throw new ValueFault('timestamp');
  const micros = roundedMicros(fraction, fractionDigits);
  if (sign === undefined && micros < MICROS_PER_S) return `${date} ${minutes}:${seconds}${fractionText(micros)}`;
  const offset = Number(zoneHours) * S_PER_HOUR + Number(zoneMinutes) * S_PER_MINUTE;
  const local = Date.parse(`${date}T00:00:00Z`) / MS_PER_S + secondsOf(minutes, seconds);
  return ofInstant({ seconds: local - (sign === '-' ? -offset : offset), micros }, fractionDigits);
}

function instantOf(value: bigint | number): Instant {
  const size = value < 0 ? -value : value;
  if (typeof value === 'bigint' && size >= MILLISECONDS_FROM) {
    const whole = Number(value / 1_000n);
    const rest = Number(value % 1_000n);
    return { seconds: rest < 0 ? whole - 1 : whole, micros: (rest < 0 ? rest + MS_PER_S : rest) * MS_PER_S };
  }
  const seconds = Math.floor(Number(value));
  return { seconds, micros: Math.round((Number(value) - seconds) * MICROS_PER_S) };
}

function ofInstant({ seconds, micros }: Instant, fractionDigits: number): string {
  const kept = roundedMicros(String(micros).padStart(MICRO_DIGITS, '0').slice(-MICRO_DIGITS), fractionDigits);
  const carried = Math.floor(micros / MICROS_PER_S) + Math.floor(kept / MICROS_PER_S);
  const at = new Date((seconds + carried) * MS_PER_S);
  const year = at.getUTCFullYear();
  if (!(year >= 1)) throw new ValueFault('range');
  const part = (number: number): string => String(number).padStart(2, '0');
  const date = `${String(year).padStart(4, '0')}-${part(at.getUTCMonth() + 1)}-${part(at.getUTCDate())}`;
  const clock = `${part(at.getUTCHours())}:${part(at.getUTCMinutes())}:${part(at.getUTCSeconds())}`;
  return `${date} ${clock}${fractionText(kept % MICROS_PER_S)}`;
}

function isDate(date: string): boolean {
  const [year = 0, month = 0, day = 0] = [date.slice(0, 4), date.slice(5, 7), date.slice(8)].map(Number);
  if (year < 1 || month < 1 || month > 12 || day < 1) return false;
  return day <= 28 || day <= new Date(Date.UTC(2_000 + (year % 400), month, 0)).getUTCDate();
}

/** Each part of `time` has two digits, so that the parts can be compared as texts. */
function isTimeOfDay(time: string): boolean {
  return time < '24' && time.slice(3, 5) < '60' && time.slice(6) < '60';
}

function secondsOf(minutes: string, seconds: string): number {
  return Number(minutes.slice(0, 2)) * S_PER_HOUR + Number(minutes.slice(3)) * S_PER_MINUTE + Number(seconds);
}

function clockText(seconds: number): string {
  const part = (number: number): string => String(Math.floor(number)).padStart(2, '0');
  return `${part(seconds / S_PER_HOUR)}:${part((seconds % S_PER_HOUR) / S_PER_MINUTE)}:${part(seconds % S_PER_MINUTE)}`;
}

/** Microseconds from the digits behind a point; a million when they were rounded up to a whole second. */
function roundedMicros(fraction: string, digits: number): number {
  if (fraction === '') return 0;
  const unit = 10 ** (MICRO_DIGITS - digits);
  const tenths = Number(fraction.padEnd(MICRO_DIGITS + 1, '0'));
  return Math.floor(tenths / (unit * 10) + 0.5) * unit;
}

function fractionText(micros: number): string {
  if (micros === 0) return '';
  const fraction = (micros / MICROS_PER_S).toFixed(MICRO_DIGITS);
  return fraction.slice(1).replace(/0{1,5}$/, '');
}
