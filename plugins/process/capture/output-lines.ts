// Converts captured bytes to lines: removes terminal codes and NULs, finds each line's level, and masks secrets. Most
// lines need none of that and stay bytes where they are; only the others become text.
import type { LogLevel } from '#core';
import { LEVEL_CHARACTERS, levelInJson } from '#kit/json-level';
import { KeyBlock } from '#kit/key-block';
import { LEVELS } from '#kit/log-level';
import { redact, secretSigns } from '#kit/redact';
import { UNPRINTABLE } from '#kit/word-groups';
import {
  HOLDS_SHIFT,
  HOLDS_UNPRINTABLE,
  HOLDS_WORD,
  LINE_NUMBERS,
  LineScan,
  MAX_SCANNED_BYTES,
  MAY_BE_JSON,
} from './line-scan.ts';

export const MAX_LINE_BYTES = 64 * 1024;
/**
 * A line without a line break is cut within this many bytes before its end, so as not to cut a secret in two or off its
 * name.
 */
const MAX_WORD_BYTES = 16 * 1024;
/**
 * Signs behind which a line is cut, in order of preference: those between a value and the next name come before those
 * that may stand between a name and its value.
 */
const SEPARATORS = [...',;& '].map(sign => sign.charCodeAt(0));

const FIRST_LINES = 16;

const NEWLINE = 0x0a;
const ANSI = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[@-Z\\-_])/g;
/** Readers of the stream take these for the end of a line, and drop a line that they cannot read whole. */
const SEPARATOR = /[\u2028\u2029]/g;
const LEVEL = /\b(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|FATAL|CRIT(?:ICAL)?)\b/i;
const LEVEL_WITHIN = 80;
const WORD_LEVELS: Readonly<Record<string, LogLevel>> = {
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

/** The words of levels, in upper case. */
const LEVEL_WORDS = Object.entries(WORD_LEVELS).map(([word, level]) => ({
  letters: Buffer.from(word),
  level: LEVELS.indexOf(level),
}));
/** For each byte, whether it belongs to a word. */
const IN_WORD = new Uint8Array(256);
for (const byte of Buffer.from('0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')) IN_WORD[byte] = 1;
/**
 * The scan of this thread, made when it is first needed, because most threads have no output; null where every line
 * becomes text.
 */
let madeScan: LineScan | null | undefined;
const LEVEL_BITS = (1 << HOLDS_SHIFT) - 1;

/**
 * The lines of a piece of output, without empty ones. It keeps the bytes that were read. A line is either a part of
 * them, or a text that was made of them.
 */
export class OutputLines {
  readonly bytes: Buffer;
  #count = 0;
  /** For each line its level, its start and its end; for a text, the complement of its place in `#texts`, and 0. */
  #places = new Int32Array(FIRST_LINES * LINE_NUMBERS);
  /** The lines that became text, after redaction. */
  readonly #texts: string[] = [];
  #textLength = 0;
  #view: DataView | undefined;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get count(): number {
    return this.#count;
  }

  /** The number of characters of all lines that are texts. */
  get textLength(): number {
    return this.#textLength;
  }

  addBytes(level: LogLevel, start: number, end: number): void {
    this.add(LEVELS.indexOf(level), start, end);
  }

  addText(level: LogLevel, text: string): void {
    this.add(LEVELS.indexOf(level), ~this.#texts.length, 0);
    this.#texts.push(text);
    this.#textLength += text.length;
  }

  /** A view of `bytes`, made when it is first needed. */
  get view(): DataView {
    this.#view ??= new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length);
    return this.#view;
  }

  /** Adds the numbers of lines in which a scan found nothing. */
  addNumbers(numbers: Int32Array): void {
    const used = this.#count * LINE_NUMBERS;
    this.#reserve(used + numbers.length);
    this.#places.set(numbers, used);
    this.#count += numbers.length / LINE_NUMBERS;
  }

  /** Adds a line; `level` is an index of `LEVELS`. */
  add(level: number, start: number, end: number): void {
    const at = this.#count * LINE_NUMBERS;
    this.#reserve(at + LINE_NUMBERS);
    this.#places[at] = level;
    this.#places[at + 1] = start;
    this.#places[at + 2] = end;
    this.#count += 1;
  }

  #reserve(numbers: number): void {
    if (numbers <= this.#places.length) return;
    const places = new Int32Array(Math.max(numbers, this.#places.length * 2));
    places.set(this.#places);
    this.#places = places;
  }

  /** The index in `LEVELS` of a line's level. */
  levelPlace(index: number): number {
    return this.#places[index * LINE_NUMBERS] ?? 0;
  }

  level(index: number): LogLevel {
    return LEVELS[this.levelPlace(index)] ?? 'INFO';
  }

  /** Where a line begins in the bytes; negative for a text. */
  start(index: number): number {
    return this.#places[index * LINE_NUMBERS + 1] ?? 0;
  }

  /** Where a line ends in the bytes. */
  end(index: number): number {
    return this.#places[index * LINE_NUMBERS + 2] ?? 0;
  }

  /**
   * The number of lines from `index` on, at most `maxLines`, that are bytes and lie within `maxBytes` of the first one.
   */
  runLength(index: number, maxLines: number, maxBytes: number): number {
    const last = Math.min(this.count, index + maxLines);
    const limit = this.start(index) + maxBytes;
    let next = index;
    while (next < last && this.start(next) >= 0 && this.end(next) <= limit) next += 1;
    return next - index;
  }

  /** The numbers of lines, in the form of a scan. */
  numbers(index: number, count: number): Int32Array {
    return this.#places.subarray(index * LINE_NUMBERS, (index + count) * LINE_NUMBERS);
  }

  /** The text of a line, after redaction. */
  text(index: number): string {
    const start = this.start(index);
    return start < 0 ? (this.#texts[~start] ?? '') : this.bytes.toString('latin1', start, this.end(index));
  }

  *[Symbol.iterator](): Generator<{ readonly level: LogLevel; readonly text: string }> {
    for (let index = 0; index < this.count; index += 1) yield { level: this.level(index), text: this.text(index) };
  }

  /** One line by the host, about the output itself. */
  static of(level: LogLevel, text: string): OutputLines {
    const lines = new OutputLines(Buffer.alloc(0));
    lines.addText(level, text);
    return lines;
  }
}

/**
 * Length of the part of `bytes` that consists of complete lines. A rest without a newline is left for later, however
 * long it stands still: programs write to a file in blocks that end anywhere, and parts of a line show neither its
 * level nor every secret in it. With `final` it is included. A rest longer than MAX_LINE_BYTES is cut behind its last
 * separator, else at a multiple of that length.
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

/** The lines of a complete part. `keys` is a key block that the part before has left open. */
export function toLines(bytes: Buffer, keys = new KeyBlock()): OutputLines {
  const lines = new OutputLines(bytes);
  const scan = scanOfThread();
  for (let start = 0; start < bytes.length; ) {
    const end = keys.isOpen || scan === null ? -1 : scannedEnd(bytes, start);
    start = end < 0 || scan === null ? addOne(lines, start, keys) : addScanned(lines, scan, start, end, keys);
  }
  return lines;
}

export function scanOfThread(): LineScan | null {
  if (madeScan === undefined) madeScan = LineScan.create({ classes: IN_WORD, words: LEVEL_WORDS });
  return madeScan;
}

/** The end of the lines that can be scanned at once; negative when the next line is too long. */
function scannedEnd(bytes: Buffer, start: number): number {
  if (bytes.length - start <= MAX_SCANNED_BYTES) return bytes.length;
  const end = bytes.lastIndexOf(NEWLINE, start + MAX_SCANNED_BYTES - 1) + 1;
  return end > start ? end : -1;
}

/** Adds one line as text, and returns where the next line begins. */
function addOne(lines: OutputLines, start: number, keys: KeyBlock): number {
  const newline = lines.bytes.indexOf(NEWLINE, start);
  const lineEnd = newline < 0 ? lines.bytes.length : newline;
  addText(lines, lines.bytes.toString('utf8', start, lineEnd), keys);
  return lineEnd + 1;
}

/** Adds lines up to `to`, or to the beginning of a key block; returns where the next line begins. */
function addScanned(lines: OutputLines, scan: LineScan, from: number, to: number, keys: KeyBlock): number {
  const { numbers, holds } = scan.scan(lines.bytes, from, to);
  if (holds === 0) {
    lines.addNumbers(numbers);
    return to;
  }
  for (let at = 0; at < numbers.length; at += LINE_NUMBERS) {
    const first = numbers[at] ?? 0;
    const start = numbers[at + 1] ?? 0;
    const end = numbers[at + 2] ?? 0;
    if (first < 1 << HOLDS_SHIFT) lines.add(first, start, end);
    else addLine(lines, start, end, first, keys);
    if (keys.isOpen) return lineEndOf(lines.bytes, end) + 1;
  }
  return to;
}

function lineEndOf(bytes: Buffer, from: number): number {
  const newline = bytes.indexOf(NEWLINE, from);
  return newline < 0 ? bytes.length : newline;
}

/** Adds a line in which a scan found something. It has no blanks at its end. */
function addLine(lines: OutputLines, start: number, end: number, first: number, keys: KeyBlock): void {
  const holds = first >>> HOLDS_SHIFT;
  const signs = (holds & HOLDS_WORD) === 0 ? 0 : secretSigns(lines.view, start, end);
  if ((holds & HOLDS_UNPRINTABLE) !== 0 || signs >= UNPRINTABLE) {
    addText(lines, lines.bytes.toString('utf8', start, end), keys);
    return;
  }
  const named = (holds & MAY_BE_JSON) === 0 ? undefined : namedLevel(lines.bytes, start, end);
  const level = named === undefined ? first & LEVEL_BITS : LEVELS.indexOf(named);
  if (signs === 0) {
    lines.add(level, start, end);
    return;
  }
  const raw = lines.bytes.toString('latin1', start, end);
  const shown = keys.concerns(raw) ? keys.shown(raw) : raw;
  lines.addText(LEVELS[level] ?? 'INFO', redact(shown.trimEnd(), signs));
}

function namedLevel(bytes: Buffer, start: number, end: number): LogLevel | undefined {
  return levelInJson(bytes.toString('latin1', start, Math.min(end, start + LEVEL_CHARACTERS)));
}

/** Adds a line that holds more than printable ASCII, is too long, or may belong to a key block. */
function addText(lines: OutputLines, raw: string, keys: KeyBlock): void {
  const dense = raw.includes('\0') ? raw.replaceAll('\0', '') : raw;
  const plain = dense.includes('\x1b') ? dense.replaceAll(ANSI, '') : dense;
  const whole = plain.replaceAll(SEPARATOR, ' ');
  const shown = keys.concerns(whole) ? keys.shown(whole) : whole;
  if (shown.length <= MAX_LINE_BYTES) {
    addLastState(lines, shown, redact);
    return;
  }
  // Masked before it is cut, because a secret may lie across a cut.
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
  return WORD_LEVELS[word.toUpperCase()] ?? 'INFO';
}
