// The level that a line of JSON names, as the usual loggers write it.
import type { LogLevel } from '../contract/log.ts';

/** How many characters of a line are searched for the level; what follows is its content. */
export const LEVEL_CHARACTERS = 4_096;
const MEMBER = /[{,]\s*"(?:@?level|lvl|severity|levelname|log\.level|@l)"\s*:\s*(?:"([a-z]{1,12})"|(\d{1,3})\b)/i;
/** A map, because a line may also name what every object has, such as `constructor`. */
const WORDS: ReadonlyMap<string, LogLevel> = new Map([
  ['trace', 'DEBUG'],
  ['verbose', 'DEBUG'],
  ['debug', 'DEBUG'],
  ['info', 'INFO'],
  ['information', 'INFO'],
  ['notice', 'INFO'],
  ['warn', 'WARNING'],
  ['warning', 'WARNING'],
  ['err', 'ERROR'],
  ['error', 'ERROR'],
  ['crit', 'CRITICAL'],
  ['critical', 'CRITICAL'],
  ['fatal', 'CRITICAL'],
  ['panic', 'CRITICAL'],
  ['alert', 'CRITICAL'],
  ['emergency', 'CRITICAL'],
]);
/** The severities of syslog, indexed by their numbers. */
const SEVERITIES: readonly LogLevel[] = [
  'CRITICAL',
  'CRITICAL',
  'CRITICAL',
  'ERROR',
  'WARNING',
  'INFO',
  'INFO',
  'DEBUG',
];
/** The levels of loggers for Node, such as 30 for INFO, indexed by their tens. */
const TENS: readonly LogLevel[] = ['DEBUG', 'DEBUG', 'DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'];

/** The level; undefined for a line that is no JSON object, or names no known level. */
export function levelInJson(line: string): LogLevel | undefined {
  if (!line.startsWith('{')) return undefined;
  const [, word, digits] = MEMBER.exec(line.slice(0, LEVEL_CHARACTERS)) ?? [];
  if (word !== undefined) return WORDS.get(word.toLowerCase());
  if (digits === undefined) return undefined;
  const number = Number(digits);
  return number < SEVERITIES.length ? SEVERITIES[number] : TENS[Math.floor(number / 10)];
}
