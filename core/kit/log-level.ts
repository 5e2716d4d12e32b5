// Log levels, and the words that other programs use for them.
import type { LogLevel } from '../contract/log.ts';

const RANK: Readonly<Record<LogLevel, number>> = { DEBUG: 10, INFO: 20, WARNING: 30, ERROR: 40, CRITICAL: 50 };

const SYNONYMS: Readonly<Record<string, LogLevel>> = {
  TRACE: 'DEBUG',
  NOTICE: 'INFO',
  LOG: 'INFO',
  WARN: 'WARNING',
  FATAL: 'CRITICAL',
};

/** The level that a word means, in any case; undefined for a word that means none. */
export function findLevel(word: string): LogLevel | undefined {
  const upper = word.trim().toUpperCase();
  return Object.hasOwn(RANK, upper) ? (upper as LogLevel) : SYNONYMS[upper];
}

/** As `findLevel`, with INFO for a word that means none. */
export function parseLevel(word: string): LogLevel {
  return findLevel(word) ?? 'INFO';
}

/** Whether a line of `level` passes where `threshold` is in force. */
export function passes(level: LogLevel, threshold: LogLevel): boolean {
  return RANK[level] >= RANK[threshold];
}
