// Converts captured bytes to lines: decodes UTF-8 with replacement, removes NULs and terminal codes, and finds each line's level.
import type { LogLevel } from '#core';
import { redact } from '#kit/redact';
import { KeyBlock } from './key-block.ts';

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
  /** Text after redaction. */
  readonly text: string;
}

/**
 * Length of the part of `bytes` that consists of complete lines. A line longer than the cap is cut at the cap. A rest
 * without a newline is left for later, or included when `final`.
 */
export function completeBytes(bytes: Buffer, final: boolean): number {
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  if (final) return bytes.length;
  const rest = bytes.length - end;
  return end + Math.floor(rest / MAX_LINE_BYTES) * MAX_LINE_BYTES;
}

/** The lines of a complete part, without empty ones. `keys` is what the part before has left open. */
export function toLines(bytes: Buffer, keys = new KeyBlock()): OutputLine[] {
  const text = bytes.toString('utf8');
  const dense = text.includes('\0') ? text.replaceAll('\0', '') : text;
  const plain = dense.includes('\x1b') ? dense.replaceAll(ANSI, '') : dense;
  const hasKeys = keys.concerns(plain);
  const lines: OutputLine[] = [];
  for (let start = 0; start < plain.length; ) {
    const newline = plain.indexOf('\n', start);
    const end = newline < 0 ? plain.length : newline;
    for (let at = start; at < end; at += MAX_LINE_BYTES) {
      const raw = plain.slice(at, Math.min(at + MAX_LINE_BYTES, end));
      const line = toLine(hasKeys ? keys.shown(raw) : raw);
      if (line !== null) lines.push(line);
    }
    start = end + 1;
  }
  return lines;
}

function toLine(raw: string): OutputLine | null {
  const shown = raw.trimEnd();
  // Programs show progress by carriage returns within a line; only the last state is kept.
  const text = shown.slice(shown.lastIndexOf('\r') + 1);
  if (text === '') return null;
  return { level: levelOf(text), text: redact(text) };
}

function levelOf(text: string): LogLevel {
  const [, word = ''] = LEVEL.exec(text.slice(0, LEVEL_WITHIN)) ?? [];
  return LEVELS[word.toUpperCase()] ?? 'INFO';
}
