// From captured bytes to lines: UTF-8 with replacement, without terminal codes, each with the level that it names.
import type { LogLevel } from '#core';
import { redact } from '#kit/redact';

export const MAX_LINE_BYTES = 64 * 1024;

const NEWLINE = 0x0a;
const ANSI = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[@-Z\\-_])/g;
const LEVEL = /\b(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|FATAL|CRIT(?:ICAL)?)\b/i;
const LEVEL_WITHIN = 80;
const LEVELS: Readonly<Record<string, LogLevel>> = {
  TRACE: 'DEBUG',
  DEBUG: 'DEBUG',
  INFO: 'INFO',
  NOTICE: 'INFO',
  WARN: 'WARNING',
  WARNING: 'WARNING',
  ERR: 'ERROR',
  ERROR: 'ERROR',
  FATAL: 'CRITICAL',
  CRIT: 'CRITICAL',
  CRITICAL: 'CRITICAL',
};

export interface OutputLine {
  readonly level: LogLevel;
  /** Redacted. */
  readonly text: string;
}

/**
 * Length of the part of `bytes` that is complete lines. A line longer than the cap is cut there; a rest without a
 * newline is left for later, or taken too when `final`.
 */
export function completeBytes(bytes: Buffer, final: boolean): number {
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  if (final) return bytes.length;
  const rest = bytes.length - end;
  return end + Math.floor(rest / MAX_LINE_BYTES) * MAX_LINE_BYTES;
}

/** Lines of a complete part; empty ones are left out. */
export function toLines(bytes: Buffer): OutputLine[] {
  const text = bytes.toString('utf8');
  const plain = text.includes('\x1b') ? text.replaceAll(ANSI, '') : text;
  const lines: OutputLine[] = [];
  for (let start = 0; start < plain.length; ) {
    const newline = plain.indexOf('\n', start);
    const end = newline < 0 ? plain.length : newline;
    for (let at = start; at < end; at += MAX_LINE_BYTES) {
      const line = toLine(plain.slice(at, Math.min(at + MAX_LINE_BYTES, end)));
      if (line !== null) lines.push(line);
    }
    start = end + 1;
  }
  return lines;
}

function toLine(raw: string): OutputLine | null {
  const shown = raw.trimEnd();
  // A carriage return inside a line is a progress display: what it showed last counts.
  const text = shown.slice(shown.lastIndexOf('\r') + 1);
  if (text === '') return null;
  return { level: levelOf(text), text: redact(text) };
}

function levelOf(text: string): LogLevel {
  const [, word = ''] = LEVEL.exec(text.slice(0, LEVEL_WITHIN)) ?? [];
  return LEVELS[word.toUpperCase()] ?? 'INFO';
}
