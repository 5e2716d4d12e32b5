// Reads the time of a log line, in the forms that services use. A time without an offset is in the local time zone.

export interface LineTime {
  readonly atMs: number;
  /** Whether the time has an offset. */
  readonly hasOffset: boolean;
  /** Index behind the time. */
  readonly end: number;
}

/** How many characters from the beginning of a line are searched for the time. */
const HEAD = 48;
const NUMERIC =
  /(\d{4})([-/])(\d\d)\2(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?: ?(Z|UTC|GMT|[+-]\d\d:?\d\d)(?![\w:]))?/;
const NAMED = /\b([A-Z][a-z]{2}) {1,2}(\d{1,2}), (\d{4}) (\d\d):(\d\d):(\d\d)/;
const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec';
const JSON_TIME = /"(?:time|ts|timestamp|@timestamp)"\s{0,4}:\s{0,4}(?:"([^"]{10,40})"|(\d{9,13}(?:\.\d{1,9})?))/;
const JSON_HEAD = 512;
/** Larger numbers are milliseconds, others seconds. */
const MAX_SECONDS = 100_000_000_000;

/** The offset of local time for each hour, kept because finding it out takes longer than all other work on a line. */
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

/** Milliseconds of `Z`, `UTC`, `GMT`, `+02:00` or `-0500`. */
function offsetOf(zone: string): number {
  if (/^[A-Z]/.test(zone)) return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
}

/** Milliseconds by which local time is ahead of UTC at a local time that is given as if it were UTC. */
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
