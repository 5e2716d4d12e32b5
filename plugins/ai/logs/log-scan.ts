// Reads the files of one log once, oldest first, within a budget of bytes and time, and notes what the lines of two
// spans of time say. Nothing is copied to disk, and only text that is shown is kept.
import { readSync } from 'node:fs';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { utcTime } from '#kit/utc-time';
import { WordGroups } from '#kit/word-groups';
import type { LinePattern, MatchedLines, TimeSpan } from '../contract.ts';
import { causeOf, KNOWN_CAUSES } from './known-causes.ts';
import { type LineLevel, levelOf } from './line-level.ts';
import { timeOf } from './line-time.ts';
import { append, MAX_LIKENESSES, type NotedLine, WindowNotes } from './window-notes.ts';

export interface ScannedFile {
  readonly name: string;
  readonly descriptor: number;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

export interface ScanRequest {
  /** The file that was written last comes first. */
  readonly files: readonly ScannedFile[];
  readonly discovered: number;
  readonly current: TimeSpan;
  readonly baseline: TimeSpan | null;
  /** Words of the question, in lower case. */
  readonly keywords: readonly string[];
  /** Patterns whose matches are given beside the analysis. Default: none. */
  readonly patterns?: readonly LinePattern[];
  readonly budgetBytes: number;
  /** How many lines are shown of the current span, and of the baseline. */
  readonly excerpts: { readonly current: number; readonly baseline: number };
  /** Values to mask wherever they occur. */
  readonly secrets: readonly string[];
  /** When the scan ends with what was read so far, in the clock `performance.timeOrigin + performance.now()`. */
  readonly endsMs: number;
}

const CHUNK_BYTES = 1024 * 1024;
const PACKED_BYTES = 64 * 1024;
/** Longer lines are cut. */
const MAX_LINE_BYTES = 64 * 1024;
/** How much of a line is decoded to find its time and level. */
const HEAD_BYTES = 512;
const NEWLINE = 0x0a;
/** How many times larger than its packed file the text of a log usually is, and at most. */
const USUAL_RATIO = 10;
const MAX_RATIO = 1_032;
/** How many lines are read between two looks at the clock. */
const LINES_BETWEEN_LOOKS = 5_000;
const MAX_NEW = 10;
const MIN_KEYWORD = 4;

const RESTARTS = ['application started', 'now listening on', 'started process', 'service started'];
const STOPS = ['application is shutting down', 'stopped process', 'service stopped'];
const BLOCKS = ['-----begin ', '-----end '];
const WORDS = new WordGroups([KNOWN_CAUSES.flatMap(({ words }) => words), RESTARTS, STOPS, BLOCKS]);
const [CAUSE, RESTART, STOP, BLOCK] = [1, 2, 4, 8];
/** A printed key has fewer lines. After this many lines the text is shown again. */
const MAX_BLOCK_LINES = 200;

const QUARTER_S = 900;
const ZONE_SLACK_S = 20;
/** Fourteen hours. */
const MAX_QUARTERS = 56;

export interface ScanResult {
  /** The member `log_analysis` of a bundle. */
  readonly analysis: Record<string, unknown>;
  readonly lines: MatchedLines;
}

export async function scanLogs(request: ScanRequest): Promise<ScanResult> {
  const scan = new LogScan(request);
  return { analysis: await scan.run(), lines: scan.matched() };
}

class LogScan {
  readonly #request: ScanRequest;
  readonly #current: WindowNotes;
  readonly #baseline: WindowNotes | undefined;
  readonly #keywords: WordGroups | undefined;
  readonly #wanted: WordGroups | undefined;
  #file = '';
  #line = 0;
  #bytes = 0;
  #lines = 0;
  #filesRead = 0;
  #isPartial = false;
  #isLate = false;
  /** Of the last line with a time: the time, its span, and the line itself if it is kept. */
  #atMs = 0;
  #span: WindowNotes | undefined;
  #kept: NotedLine | undefined;
  /** Whether no line has had a time yet; then the time of the file counts. */
  #isUntimed = true;
  #blockLines = 0;
  #lastLocalMs: number | undefined;

  constructor(request: ScanRequest) {
    this.#request = request;
    this.#current = new WindowNotes(request.current, request.excerpts.current);
    this.#baseline =
      request.baseline === null ? undefined : new WindowNotes(request.baseline, request.excerpts.baseline);
    const keywords = request.keywords.filter(word => word.length >= MIN_KEYWORD && /^[\x21-\x7e]+$/.test(word));
    this.#keywords = keywords.length === 0 ? undefined : new WordGroups([keywords]);
    const { patterns = [] } = request;
    this.#wanted = patterns.length === 0 ? undefined : new WordGroups(patterns.map(({ word }) => [word]));
  }

  async run(): Promise<Record<string, unknown>> {
    const earliestMs = Math.min(this.#current.fromMs, this.#baseline?.fromMs ?? Number.POSITIVE_INFINITY);
    const files = this.#request.files.filter(({ modifiedMs }) => modifiedMs >= earliestMs);
    let left = this.#request.budgetBytes;
    const chosen: { file: ScannedFile; bytes: number }[] = [];
    for (const file of files) {
      if (left <= 0) break;
      const bytes = Math.min(left, file.name.endsWith('.gz') ? unpackedBytes(file) : file.sizeBytes);
      chosen.push({ file, bytes });
      left -= bytes;
    }
    let offsetSeconds: number | null = null;
    for (const { file, bytes } of chosen.reverse()) {
      if (this.#isLate) break;
      this.#file = file.name;
      this.#line = 0;
      this.#lastLocalMs = undefined;
      // Lines before the first time, as in a log without any, are as old as their file.
      if (this.#isUntimed || this.#span === undefined) {
        this.#atMs = Math.min(file.modifiedMs, this.#current.toMs - 1);
        this.#span = this.#spanOf(this.#atMs);
      }
      await this.#read(file, bytes).catch(() => {
        this.#isPartial = true;
      });
      this.#filesRead += 1;
      offsetSeconds = this.#clockOffset(file);
    }
    return this.#result(files.length, offsetSeconds);
  }

  matched(): MatchedLines {
    return { current: this.#current.matched(), baseline: this.#baseline?.matched() ?? null };
  }

  #result(usableFiles: number, offsetSeconds: number | null): Record<string, unknown> {
    const { discovered, secrets } = this.#request;
    const all = this.#filesRead === usableFiles && !this.#isPartial && !this.#isLate;
    const current = this.#current;
    const signatures = current.signatures();
    // All of them, because an error that was rare before is not new.
    const before = this.#baseline?.signatures(MAX_LIKENESSES);
    const isNew = ([signature, { count, late }]: [string, { count: number; late: number }]) =>
      before === undefined ? late === count : !before.has(signature);
    return {
      coverage: {
        available: this.#filesRead > 0,
        files_discovered: discovered,
        files_scanned: this.#filesRead,
        bytes_scanned: this.#bytes,
        lines_scanned: this.#lines,
        lines_in_window: current.lines,
        all_retained_files_scanned: all,
        truncated: !all,
        partial_file_scanned: this.#isPartial,
        window_start: utcTime(current.fromMs),
        window_end: utcTime(current.toMs),
        timed_out: this.#isLate,
      },
      levels: current.levels(),
      restart_markers: current.restarts,
      stop_markers: current.stops,
      top_error_signatures: current.topSignatures(),
      new_error_signatures: [...signatures]
        .filter(isNew)
        .slice(0, MAX_NEW)
        .map(([signature, { count }]) => ({ signature, count })),
      longest_activity_gap_seconds: current.longestGapSeconds(),
      known_causes: current.knownCauses(secrets),
      clock_offset_seconds: offsetSeconds,
      excerpts: current.excerpts(secrets),
      ...(this.#baseline === undefined ? {} : { baseline: baselineOf(this.#baseline, secrets) }),
    };
  }

  async #read(file: ScannedFile, bytes: number): Promise<void> {
    if (file.name.endsWith('.gz')) return this.#readPacked(file, bytes);
    let position = file.sizeBytes - bytes;
    if (position > 0) this.#isPartial = true;
    let isCut = position > 0;
    let rest: Buffer = Buffer.alloc(0);
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    while (position < file.sizeBytes && !this.#isLate) {
      const wanted = Math.min(CHUNK_BYTES, file.sizeBytes - position);
      const count = readSync(file.descriptor, buffer, 0, wanted, position);
      if (count === 0) break;
      position += count;
      this.#bytes += count;
      let chunk: Buffer = Buffer.concat([rest, buffer.subarray(0, count)]);
      // The text before the first newline is part of a line, and might show a secret without the name that marks it.
      if (isCut) {
        const newline = chunk.indexOf(NEWLINE);
        if (newline >= 0) isCut = false;
        chunk = newline < 0 ? Buffer.alloc(0) : chunk.subarray(newline + 1);
      }
      rest = this.#takeLines(chunk);
    }
    if (rest.length > 0) this.#takeLine(rest, viewOf(rest), 0, rest.length);
  }

  async #readPacked(file: ScannedFile, bytes: number): Promise<void> {
    const source = Readable.from(piecesOf(file));
    const packed = source.pipe(createGunzip());
    source.on('error', error => packed.destroy(error));
    let rest: Buffer = Buffer.alloc(0);
    let read = 0;
    for await (const part of packed as AsyncIterable<Buffer>) {
      if (read === bytes || this.#isLate) {
        this.#isPartial = true;
        break;
      }
      const used = part.subarray(0, bytes - read);
      read += used.length;
      this.#bytes += used.length;
      rest = this.#takeLines(Buffer.concat([rest, used]));
      if (used.length < part.length) this.#isPartial = true;
    }
    source.destroy();
    if (rest.length > 0) this.#takeLine(rest, viewOf(rest), 0, rest.length);
  }

  /** Takes all complete lines, and gives the rest behind the last newline. */
  #takeLines(chunk: Buffer): Buffer {
    const view = viewOf(chunk);
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#takeLine(chunk, view, start, end);
      start = end + 1;
      if (
        this.#lines % LINES_BETWEEN_LOOKS === 0 &&
        performance.timeOrigin + performance.now() > this.#request.endsMs
      ) {
        this.#isLate = true;
        return Buffer.alloc(0);
      }
    }
    const rest = chunk.subarray(start);
    if (rest.length <= MAX_LINE_BYTES) return rest;
    this.#takeLine(rest, viewOf(rest), 0, MAX_LINE_BYTES);
    return Buffer.alloc(0);
  }

  #takeLine(chunk: Buffer, view: DataView, start: number, lineEnd: number): void {
    const end = Math.min(lineEnd, start + MAX_LINE_BYTES);
    this.#lines += 1;
    this.#line += 1;
    const signs = WORDS.find(view, start, end);
    if (this.#isInBlock(signs, chunk, start, end)) return;
    const head = chunk.toString('utf8', start, Math.min(end, start + HEAD_BYTES));
    const time = timeOf(head);
    if (time === undefined) {
      this.#takeUntimed(signs, chunk, start, end);
      return;
    }
    this.#lastLocalMs = time.hasOffset ? undefined : time.atMs;
    this.#kept = undefined;
    this.#isUntimed = false;
    this.#atMs = time.atMs;
    this.#span = this.#spanOf(time.atMs);
    if (this.#span === undefined) return;
    const level = levelOf(head, time.end);
    this.#span.count(time.atMs, level);
    if ((signs & RESTART) !== 0) this.#span.restarts += 1;
    if ((signs & STOP) !== 0) this.#span.stops += 1;
    this.#note(this.#span, { atMs: time.atMs, level, from: time.end }, signs, chunk, start, end);
    const wanted = this.#wanted?.find(view, start, end) ?? 0;
    if (wanted !== 0) this.#match(this.#span, wanted, time.atMs, chunk.toString('utf8', start, end).slice(time.end));
  }

  /** `wanted` has a bit for each pattern whose word the line has. */
  #match(span: WindowNotes, wanted: number, atMs: number, text: string): void {
    for (const [pattern, { pattern: expression }] of (this.#request.patterns ?? []).entries()) {
      const [found, ...groups] = (wanted & (1 << pattern)) === 0 ? [] : (expression.exec(text) ?? []);
      if (found !== undefined) span.noteMatch({ atMs, pattern, groups: groups.map(group => group ?? '') });
    }
  }

  #spanOf(atMs: number): WindowNotes | undefined {
    if (this.#current.has(atMs)) return this.#current;
    return this.#baseline?.has(atMs) === true ? this.#baseline : undefined;
  }

  #note(
    span: WindowNotes,
    { atMs, level, from }: { atMs: number; level: LineLevel; from: number },
    signs: number,
    chunk: Buffer,
    start: number,
    end: number,
  ): void {
    const isAsked = this.#keywords !== undefined && this.#keywords.find(viewOf(chunk), start, end) & 1;
    const isSevere = level === 'error' || level === 'critical' || level === 'warning';
    if (!isSevere && !isAsked && (signs & CAUSE) === 0) return;
    const text = chunk.toString('utf8', start, end).replace(/\r$/, '');
    const line: NotedLine = { atMs, level, file: this.#file, line: this.#line, text, from };
    if (isSevere) span.noteSignature(line);
    if (isSevere || isAsked) {
      span.keep(line, Boolean(isAsked));
      this.#kept = line;
    }
    this.#noteCause(span, line, signs, text.slice(from));
  }

  /** Takes a line without a time, which belongs to the line before it, as in a stack trace. */
  #takeUntimed(signs: number, chunk: Buffer, start: number, end: number): void {
    this.#lastLocalMs = undefined;
    if (this.#span === undefined) return;
    if (this.#kept === undefined && (signs & CAUSE) === 0) return;
    const text = chunk.toString('utf8', start, end).replace(/\r$/, '');
    if (this.#kept !== undefined) append(this.#kept, text);
    const place = { atMs: this.#atMs, file: this.#file, line: this.#line };
    const line = this.#kept ?? { ...place, level: 'info' as const, text, from: 0 };
    this.#noteCause(this.#span, line, signs, text);
  }

  #noteCause(span: WindowNotes, line: NotedLine, signs: number, text: string): void {
    const cause = (signs & CAUSE) === 0 ? undefined : causeOf(text);
    if (cause !== undefined) span.noteCause(cause.id, line);
  }

  /** Whether the line belongs to a key or a certificate that is printed over several. */
  #isInBlock(signs: number, chunk: Buffer, start: number, end: number): boolean {
    if (this.#blockLines === 0 && (signs & BLOCK) === 0) return false;
    const text = chunk.toString('utf8', start, end);
    const begins = text.lastIndexOf(BLOCKS[0]?.toUpperCase() ?? '');
    const ends = text.lastIndexOf(BLOCKS[1]?.toUpperCase() ?? '');
    const isInside = this.#blockLines > 0 || begins >= 0 || ends >= 0;
    if (begins > ends) this.#blockLines = 1;
    else if (ends >= 0 || this.#blockLines >= MAX_BLOCK_LINES) this.#blockLines = 0;
    else if (this.#blockLines > 0) this.#blockLines += 1;
    return isInside;
  }

  /**
   * Seconds by which the last time in the log is ahead of the file's modification time, if that looks like a time zone;
   * else null.
   */
  #clockOffset({ modifiedMs }: ScannedFile): number | null {
    if (this.#lastLocalMs === undefined) return null;
    const seconds = Math.round((this.#lastLocalMs - modifiedMs) / 1_000);
    const quarters = Math.round(seconds / QUARTER_S);
    const isOfZone = Math.abs(seconds - quarters * QUARTER_S) <= ZONE_SLACK_S && Math.abs(quarters) <= MAX_QUARTERS;
    return quarters !== 0 && isOfZone ? quarters * QUARTER_S : null;
  }
}

function baselineOf(notes: WindowNotes, secrets: readonly string[]): Record<string, unknown> {
  return {
    window_start: utcTime(notes.fromMs),
    window_end: utcTime(notes.toMs),
    lines_in_window: notes.lines,
    levels: notes.levels(),
    restart_markers: notes.restarts,
    stop_markers: notes.stops,
    top_error_signatures: notes.topSignatures(),
    longest_activity_gap_seconds: notes.longestGapSeconds(),
    known_causes: notes.knownCauses(secrets),
    excerpts: notes.excerpts(secrets),
  };
}

/**
 * How many bytes a packed file may unpack to. gzip stores that number in the last four bytes, but a file written in
 * parts has there only the number of its last part.
 */
function unpackedBytes({ descriptor, sizeBytes }: ScannedFile): number {
  const end = Buffer.alloc(4);
  try {
    if (sizeBytes >= end.length) readSync(descriptor, end, 0, end.length, sizeBytes - end.length);
  } catch {
    // The error is reported when the file is read.
  }
  return Math.min(Math.max(end.readUInt32LE(), sizeBytes * USUAL_RATIO), sizeBytes * MAX_RATIO);
}

/** A read stream is not used, because it would close the descriptor, which belongs to the caller. */
function* piecesOf({ descriptor, sizeBytes }: ScannedFile): Generator<Buffer> {
  for (let position = 0; position < sizeBytes; ) {
    const buffer = Buffer.allocUnsafe(PACKED_BYTES);
    const count = readSync(descriptor, buffer, 0, PACKED_BYTES, position);
    if (count === 0) return;
    position += count;
    yield buffer.subarray(0, count);
  }
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
