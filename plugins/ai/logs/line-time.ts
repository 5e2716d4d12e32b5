// Reads when a line of a log was written, in the forms in which services write it. Times without an offset are those of
// the local time zone.

export interface LineTime {
  readonly atMs: number;
  /** Whether the line says its offset. */
  readonly hasOffset: boolean;
  /** Index behind the time. */
  readonly end: number;
}

/** A time stands within so many characters of the beginning. */
const HEAD = 48;
const NUMERIC =
  /(\d{4})([-/])(\d\d)\2(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?: ?(Z|UTC|GMT|[+-]\d\d:?\d\d)(?![\w:]))?/;
const NAMED = /\b([A-Z][a-z]{2}) {1,2}(\d{1,2}), (\d{4}) (\d\d):(\d\d):(\d\d)/;
const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec';
const JSON_TIME = /"(?:time|ts|timestamp|@timestamp)"\s{0,4}:\s{0,4}(?:"([^"]{10,40})"|(\d{9,13}(?:\.\d{1,9})?))/;
const JSON_HEAD = 512;
/** Larger ones count milliseconds. */
const MAX_SECONDS = 100_000_000_000;

/** Remembers the offset of the local time for each hour, which asking for takes longer than all else. */
const offsets = new Map<number, number>();
const MAX_OFFSETS = 20_000;

/** undefined for a line without a time. */
export function timeOf(line: string): LineTime | undefined {
  if (line.charCodeAt(0) === 0x7b) return jsonTime(line);
  const head = line.length > HEAD ? line.slice(0, HEAD) : line;
  const numeric = NUMERIC.exec(head);
  if (numeric !== null) {
    const [text, year, , month, day, hour, minute, second, fraction = '', zone] = numeric;
    const utcMs = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
    const atMs =
      utcMs + Number(fraction.padEnd(3, '0').slice(0, 3)) - (zone === undefined ? localOffset(utcMs) : offsetOf(zone));
    return { atMs, hasOffset: zone !== undefined, end: numeric.index + text.length };
  }
  const named = NAMED.exec(head);
  if (named === null) return undefined;
  const [text, month = '', day, year, hour, minute, second] = named;
  const index = MONTHS.indexOf(month);
  if (index < 0 || index % 3 !== 0) return undefined;
  const utcMs = Date.UTC(Number(year), index / 3, Number(day), Number(hour), Number(minute), Number(second));
  return { atMs: utcMs - localOffset(utcMs), hasOffset: false, end: named.index + text.length };
}

function jsonTime(line: string): LineTime | undefined {
  const found = JSON_TIME.exec(line.length > JSON_HEAD ? line.slice(0, JSON_HEAD) : line);
  if (found === null) return undefined;
  const [, text, number] = found;
  if (text !== undefined) {
    const time = timeOf(text);
    return time && { ...time, end: 0 };
  }
  const value = Number(number);
  return { atMs: value > MAX_SECONDS ? value : value * 1_000, hasOffset: true, end: 0 };
}

/** In milliseconds, of `Z`, `UTC`, `GMT`, `+02:00` or `-0500`. */
function offsetOf(zone: string): number {
  if (/^[A-Z]/.test(zone)) return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
}

/** By how much local time is ahead at a moment that is given as if it were UTC. */
function localOffset(wallMs: number): number {
  const hour = Math.floor(wallMs / 3_600_000);
  const known = offsets.get(hour);
  if (known !== undefined) return known;
  const wall = new Date(wallMs);
  const local = new Date(
    wall.getUTCFullYear(),
    wall.getUTCMonth(),
    wall.getUTCDate(),
    wall.getUTCHours(),
    wall.getUTCMinutes(),
    wall.getUTCSeconds(),
    wall.getUTCMilliseconds(),
  );
  const offset = wallMs - local.getTime();
  if (offsets.size >= MAX_OFFSETS) offsets.clear();
  offsets.set(hour, offset);
  return offset;
}
