// Reads the level of a log line.

export type LineLevel = 'debug' | 'info' | 'warning' | 'error' | 'critical';

const LEVELS: Readonly<Record<string, LineLevel>> = {
  trc: 'debug',
  dbg: 'debug',
  trace: 'debug',
  verbose: 'debug',
  debug: 'debug',
  inf: 'info',
  info: 'info',
  information: 'info',
  notice: 'info',
  log: 'info',
  wrn: 'warning',
  warn: 'warning',
  warning: 'warning',
  err: 'error',
  error: 'error',
  severe: 'error',
  ftl: 'critical',
  crit: 'critical',
  fatal: 'critical',
  panic: 'critical',
  critical: 'critical',
  emerg: 'critical',
};

/** How many characters from the beginning of a line are searched for the level. */
const HEAD = 200;
const MARKED =
  /\[([A-Z]{3})\]| - ([A-Za-z]{4,8}) - |\|([A-Za-z]{4,8})\||\blevel"?[=:] ?"?([A-Za-z]{3,11})|\[([A-Za-z]{3,11})\]| (DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|PANIC|LOG|NOTICE)(?:\s{0,4}:|\s)/g;
const LEADING = /[\s\])|:-]{0,8}([A-Za-z]{3,11})(?::|\s|$)/y;
/** The numbers that Node programs write as levels into JSON lines. */
const NUMBERED: Readonly<Record<string, LineLevel>> = {
  1: 'debug',
  2: 'debug',
  3: 'info',
  4: 'warning',
  5: 'error',
  6: 'critical',
};
/** The first level of the line: a later one is that of something else. */
const JSON_LEVEL = /^\{.{0,190}?"level"\s{0,4}:(?:\s{0,4}([1-6])0(?!\d))?/;
const FAILURE = /traceback|exception| failed|^error[: ]|\bpanic:/i;

/** `from` is the index behind the time. */
export function levelOf(line: string, from: number): LineLevel {
  const head = line.length > HEAD ? line.slice(0, HEAD) : line;
  const numbered = NUMBERED[JSON_LEVEL.exec(head)?.[1] ?? ''];
  if (numbered !== undefined) return numbered;
  LEADING.lastIndex = from;
  const leading = LEVELS[LEADING.exec(head)?.[1]?.toLowerCase() ?? ''];
  MARKED.lastIndex = 0;
  for (let found = MARKED.exec(head); found !== null; found = MARKED.exec(head)) {
    const word = found[1] ?? found[2] ?? found[3] ?? found[4] ?? found[5] ?? found[6] ?? '';
    const level = LEVELS[word.toLowerCase()];
    // A program that captures the output of another writes `INFO` before a line that may have its own level.
    if (level !== undefined && (leading === undefined || leading === 'info')) return level;
  }
  if (leading !== undefined) return leading;
  return FAILURE.test(head) ? 'error' : 'info';
}
