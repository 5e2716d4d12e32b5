// Log levels: their order, and the words that other programs use for them.
import type { LogLevel } from '../contract/log.ts';

const RANK: Readonly<Record<LogLevel, number>> = { DEBUG: 10, INFO: 20, WARNING: 30, ERROR: 40, CRITICAL: 50 };

export const LEVELS = Object.keys(RANK) as readonly LogLevel[];

const SYNONYMS: Readonly<Record<string, LogLevel>> = {
  TRACE: 'DEBUG',
  NOTICE: 'INFO',
  LOG: 'INFO',
  WARN: 'WARNING',
  FATAL: 'CRITICAL',
};

/** The level that a word stands for, in upper or lower case; undefined for any other word. */
export function findLevel(word: string): LogLevel | undefined {
  const upper = word.trim().toUpperCase();
  return Object.hasOwn(RANK, upper) ? (upper as LogLevel) : SYNONYMS[upper];
}

/** Same as `findLevel`, but INFO for a word that stands for no level. */
export function parseLevel(word: string): LogLevel {
  return findLevel(word) ?? 'INFO';
}

/** Whether a line of `level` is logged when the log's level is `threshold`. */
export function passes(level: LogLevel, threshold: LogLevel): boolean {
  return RANK[level] >= RANK[threshold];
}
