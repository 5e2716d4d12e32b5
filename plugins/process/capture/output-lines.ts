// Converts captured bytes to lines: removes terminal codes and NULs, finds each line's level, and masks secrets. Most lines
// hold nothing of that kind, so one pass over the bytes tells them apart, and only the others become text.
import type { LogLevel } from '#core';
import { redact, SECRET_WORDS } from '#kit/redact';
import { KeyBlock } from './key-block.ts';

export const MAX_LINE_BYTES = 64 * 1024;

const NEWLINE = 0x0a;
const SPACE = 0x20;
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

/** The bit that lower case letters have and upper case letters do not. */
const LOWER_CASE = 0x20;
/** In upper case. */
const LEVEL_WORDS = Object.entries(LEVELS).map(([word, level]) => ({ letters: Buffer.from(word), level }));

/** What a byte, or the three bytes that end with it, say of their line. */
const NEEDS_TEXT = 1;
const MAY_BE_LEVEL = 2;

/** Bytes of lines that are not copied as they are; `@` stands in mail addresses and in URLs with credentials. */
const BY_BYTE = new Uint8Array(256);
for (const byte of [0x00, 0x0d, 0x1b, 0x40]) BY_BYTE[byte] = NEEDS_TEXT;
BY_BYTE.fill(NEEDS_TEXT, 0x80);

/** By the lower five bits of three bytes, so that upper and lower case are the same and others may look like letters. */
const THREE_BYTES = 0x7fff;
const BY_THREE_BYTES = new Uint8Array(THREE_BYTES + 1);
for (const word of SECRET_WORDS) BY_THREE_BYTES[startOf(word)] = NEEDS_TEXT;
for (const word of Object.keys(LEVELS))
  BY_THREE_BYTES[startOf(word)] = (BY_THREE_BYTES[startOf(word)] ?? 0) | MAY_BE_LEVEL;

function startOf(word: string): number {
  return [...word.slice(0, 3)].reduce((code, letter) => (code << 5) | (letter.charCodeAt(0) & 31), 0);
}

export interface OutputLine {
  readonly level: LogLevel;
  /** Text after redaction. */
  readonly text: string;
}

/** A line whose bytes are its text. It holds on to the bytes that were read. */
export class PlainLine implements OutputLine {
  readonly level: LogLevel;
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #end: number;

  constructor(level: LogLevel, bytes: Buffer, start: number, end: number) {
    this.level = level;
    this.#bytes = bytes;
    this.#start = start;
    this.#end = end;
  }

  get text(): string {
    return this.#bytes.toString('latin1', this.#start, this.#end);
  }

  get byteLength(): number {
    return this.#end - this.#start;
  }

  /** Returns how many bytes were copied. */
  copyTo(target: Buffer, at: number): number {
    return this.#bytes.copy(target, at, this.#start, this.#end);
  }
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
  const lines: OutputLine[] = [];
  if (keys.concerns(bytes)) {
    addTextLines(lines, bytes, keys);
    return lines;
  }
  /** Lines that need to become text do so together. */
  let textFrom = 0;
  let start = 0;
  let seen = 0;
  let code = 0;
  let level: LogLevel | undefined;
  for (let at = 0; at <= bytes.length; at += 1) {
    const byte = at < bytes.length ? (bytes[at] ?? NEWLINE) : NEWLINE;
    if (byte !== NEWLINE) {
      code = ((code << 5) | (byte & 31)) & THREE_BYTES;
      const says = (BY_BYTE[byte] ?? 0) | (BY_THREE_BYTES[code] ?? 0);
      if (says === 0) continue;
      seen |= says;
      if ((says & MAY_BE_LEVEL) !== 0 && level === undefined) level = levelAt(bytes, start, at - 2);
      continue;
    }
    const length = at - start;
    const isPlain = (seen & NEEDS_TEXT) === 0 && length > 0 && length <= MAX_LINE_BYTES && (bytes[at - 1] ?? 0) > SPACE;
    if (isPlain && !keys.isOpen) {
      if (start > textFrom) addTextLines(lines, bytes.subarray(textFrom, start), keys);
      textFrom = start;
      // A key may begin in a line whose terminal codes hid that.
      if (!keys.isOpen) {
        lines.push(new PlainLine(level ?? 'INFO', bytes, start, at));
        textFrom = at + 1;
      }
    }
    start = at + 1;
    seen = 0;
    level = undefined;
  }
  if (textFrom < bytes.length) addTextLines(lines, bytes.subarray(textFrom), keys);
  return lines;
}

/** The level whose word stands at `from` in a line that begins at `start`. */
function levelAt(bytes: Buffer, start: number, from: number): LogLevel | undefined {
  const limit = start + LEVEL_WITHIN;
  if (from < start || (from > start && isWordByte(bytes[from - 1]))) return undefined;
  for (const { letters, level } of LEVEL_WORDS) {
    const end = from + letters.length;
    if (end > limit || (end < limit && isWordByte(bytes[end]))) continue;
    let same = 0;
    while (same < letters.length && ((bytes[from + same] ?? 0) & ~LOWER_CASE) === letters[same]) same += 1;
    if (same === letters.length) return level;
  }
  return undefined;
}

function isWordByte(byte = 0): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5a) || byte === 0x5f || (byte >= 0x61 && byte <= 0x7a)
  );
}

function addTextLines(lines: OutputLine[], bytes: Buffer, keys: KeyBlock): void {
  const text = bytes.toString('utf8');
  const dense = text.includes('\0') ? text.replaceAll('\0', '') : text;
  const plain = dense.includes('\x1b') ? dense.replaceAll(ANSI, '') : dense;
  const hasKeys = keys.concerns(plain);
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
