// Converts captured bytes to lines: removes terminal codes and NULs, finds each line's level, and masks secrets. Most lines
// hold nothing of that kind: those stay bytes where they are, and only the others become text.
import type { LogLevel } from '#core';
import { LEVEL_CHARACTERS, levelInJson } from '#kit/json-level';
import { redact, secretSigns } from '#kit/redact';
import { UNPRINTABLE } from '#kit/word-groups';
import { KeyBlock } from './key-block.ts';

export const MAX_LINE_BYTES = 64 * 1024;
/** How far before its end a line without one is cut, to cut no secret in two or off its name. */
const MAX_WORD_BYTES = 16 * 1024;
/** What separates values from the names of the next ones comes before what may stand between a name and its value. */
const SEPARATORS = [...',;& '].map(sign => sign.charCodeAt(0));

const NEWLINE = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;
const CARRIAGE_RETURN = 0x0d;
const BRACE = 0x7b;
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
const IN_WORD = 1;
const BEGINS_LEVEL = 2;
/** By a byte: whether it belongs to a word, and whether it may begin that of a level. */
const BYTES = new Uint8Array(256);
for (const byte of Buffer.from('0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'))
  BYTES[byte] = IN_WORD;
for (const word of Object.keys(LEVELS))
  for (const byte of Buffer.from(word.charAt(0) + word.charAt(0).toLowerCase())) BYTES[byte] = IN_WORD | BEGINS_LEVEL;

/**
 * The lines of a piece of output, without empty ones. It holds on to the bytes that were read. A line is either a part of
 * them, or a text that was made of them.
 */
export class OutputLines {
  readonly bytes: Buffer;
  readonly levels: LogLevel[] = [];
  /** Where a line begins in the bytes; for a text, the complement of its place in `texts`. */
  readonly starts: number[] = [];
  /** Where a line ends in the bytes; 0 for a text. */
  readonly ends: number[] = [];
  /** After redaction. */
  readonly texts: string[] = [];

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get count(): number {
    return this.levels.length;
  }

  addBytes(level: LogLevel, start: number, end: number): void {
    this.levels.push(level);
    this.starts.push(start);
    this.ends.push(end);
  }

  addText(level: LogLevel, text: string): void {
    this.levels.push(level);
    this.starts.push(~this.texts.length);
    this.ends.push(0);
    this.texts.push(text);
  }

  level(index: number): LogLevel {
    return this.levels[index] ?? 'INFO';
  }

  /** After redaction. */
  text(index: number): string {
    const start = this.starts[index] ?? 0;
    return start < 0 ? (this.texts[~start] ?? '') : this.bytes.toString('latin1', start, this.ends[index]);
  }

  *[Symbol.iterator](): Generator<{ readonly level: LogLevel; readonly text: string }> {
    for (let index = 0; index < this.count; index += 1) yield { level: this.level(index), text: this.text(index) };
  }

  /** One line that tells of the output itself. */
  static of(level: LogLevel, text: string): OutputLines {
    const lines = new OutputLines(Buffer.alloc(0));
    lines.addText(level, text);
    return lines;
  }
}

/**
 * Length of the part of `bytes` that consists of complete lines. A rest without a newline is left for later, or included
 * when `final`; one that is longer than the cap is cut behind its last separator, else at a multiple of the cap.
 */
export function completeBytes(bytes: Buffer, final: boolean): number {
  if (final) return bytes.length;
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  const rest = bytes.length - end;
  if (rest < MAX_LINE_BYTES) return end;
  for (const separator of SEPARATORS) {
    const cut = bytes.lastIndexOf(separator) + 1;
    if (cut > bytes.length - MAX_WORD_BYTES) return cut;
  }
  return end + Math.floor(rest / MAX_LINE_BYTES) * MAX_LINE_BYTES;
}

/** The lines of a complete part. `keys` is what the part before has left open. */
export function toLines(bytes: Buffer, keys = new KeyBlock()): OutputLines {
  const lines = new OutputLines(bytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, start);
    const lineEnd = newline < 0 ? bytes.length : newline;
    if (keys.isOpen) addText(lines, bytes.toString('utf8', start, lineEnd), keys);
    else addLine(lines, view, start, lineEnd, keys);
    start = lineEnd + 1;
  }
  return lines;
}

function isBlank(byte: number): boolean {
  return byte === SPACE || (byte >= TAB && byte <= CARRIAGE_RETURN);
}

function addLine(lines: OutputLines, view: DataView, start: number, lineEnd: number, keys: KeyBlock): void {
  let end = lineEnd;
  while (end > start && isBlank(view.getUint8(end - 1))) end -= 1;
  if (end === start) return;
  const signs = secretSigns(view, start, end);
  if (signs >= UNPRINTABLE || end - start > MAX_LINE_BYTES) {
    addText(lines, lines.bytes.toString('utf8', start, lineEnd), keys);
    return;
  }
  const level = namedLevel(lines, view, start, end) ?? levelIn(view, start, end);
  if (signs === 0) {
    lines.addBytes(level, start, end);
    return;
  }
  const raw = lines.bytes.toString('latin1', start, lineEnd);
  const shown = keys.concerns(raw) ? keys.shown(raw) : raw;
  lines.addText(level, redact(shown.trimEnd(), signs));
}

/** Of a line that may be JSON. */
function namedLevel({ bytes }: OutputLines, view: DataView, start: number, end: number): LogLevel | undefined {
  if (view.getUint8(start) !== BRACE) return undefined;
  return levelInJson(bytes.toString('latin1', start, Math.min(end, start + LEVEL_CHARACTERS)));
}

function levelIn(view: DataView, start: number, end: number): LogLevel {
  const limit = Math.min(end, start + LEVEL_WITHIN);
  let before = 0;
  for (let at = start; at < limit; at += 1) {
    const says = BYTES[view.getUint8(at)] ?? 0;
    if (says > IN_WORD && before === 0) {
      const level = levelAt(view, at, limit);
      if (level !== undefined) return level;
    }
    before = says;
  }
  return 'INFO';
}

function levelAt(view: DataView, start: number, limit: number): LogLevel | undefined {
  const first = view.getUint8(start) & ~LOWER_CASE;
  for (const { letters, level } of LEVEL_WORDS) {
    if (letters[0] === first && isWord(letters, view, start, limit)) return level;
  }
  return undefined;
}

/** Whether the word stands at `start` and ends there, or where it is not looked further. */
function isWord(letters: Buffer, view: DataView, start: number, limit: number): boolean {
  const end = start + letters.length;
  if (end > limit || (end < limit && BYTES[view.getUint8(end)] !== 0)) return false;
  for (let index = 0; index < letters.length; index += 1)
    if ((view.getUint8(start + index) & ~LOWER_CASE) !== letters[index]) return false;
  return true;
}

/** Adds a line that holds more than printable ASCII, is too long, or may belong to a key. */
function addText(lines: OutputLines, raw: string, keys: KeyBlock): void {
  const dense = raw.includes('\0') ? raw.replaceAll('\0', '') : raw;
  const plain = dense.includes('\x1b') ? dense.replaceAll(ANSI, '') : dense;
  const shown = keys.concerns(plain) ? keys.shown(plain) : plain;
  if (shown.length <= MAX_LINE_BYTES) {
    addLastState(lines, shown, redact);
    return;
  }
  // A secret may lie over a cut.
  const masked = redact(shown);
  for (let at = 0; at < masked.length; at += MAX_LINE_BYTES)
    addLastState(lines, masked.slice(at, at + MAX_LINE_BYTES), part => part);
}

/** Programs show progress by carriage returns within a line; only the last state is kept. */
function addLastState(lines: OutputLines, shown: string, masked: (text: string) => string): void {
  const trimmed = shown.trimEnd();
  const text = trimmed.slice(trimmed.lastIndexOf('\r') + 1);
  if (text !== '') lines.addText(levelOf(text), masked(text));
}

function levelOf(text: string): LogLevel {
  const named = levelInJson(text);
  if (named !== undefined) return named;
  const [, word = ''] = LEVEL.exec(text.slice(0, LEVEL_WITHIN)) ?? [];
  return LEVELS[word.toUpperCase()] ?? 'INFO';
}
