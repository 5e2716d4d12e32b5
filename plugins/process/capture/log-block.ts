// The lines of one batch as they are written to a log, in one block of bytes.
import type { CapturedLines, LogLevel } from '#core';
import { LEVELS, passes } from '#kit/log-level';
import { formatRecord } from '#kit/log-line';
import { MAX_SCANNED_BYTES } from './line-scan.ts';
import { type OutputLines, scanOfThread } from './output-lines.ts';

const NEWLINE = 0x0a;
const MIN_BYTES = 1_024;
const ROOM_SHIFT = 3;
/** Fewer lines than this are copied faster by JavaScript than by the scan. */
const MIN_RUN = 8;
const WORD_BYTES = 8;
/** The most bytes that a character of a text has in UTF-8. */
const CHARACTER_BYTES = 3;

interface Start {
  readonly bytes: Uint8Array;
  /** A view of the bytes and of some behind them, because copies read beyond the end. */
  readonly view: DataView;
}

/** A block of memory that is used again: it holds the lines that were formatted last. */
export class LogBlock {
  readonly #isShared: boolean;
  #bytes: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  #view: DataView<ArrayBufferLike> = new DataView(this.#bytes.buffer, 0, 0);

  /** Another thread can read a shared block where it is. Copies into it take three times as long. */
  constructor({ isShared = false }: { readonly isShared?: boolean } = {}) {
    this.#isShared = isShared;
  }

  /** Formats the lines whose level passes `threshold`; `at` is in milliseconds since the epoch. */
  format(lines: OutputLines, at: number, processName: string, threshold: LogLevel): CapturedLines {
    const starts = LEVELS.map(level =>
      passes(level, threshold) ? startOf(formatRecord({ at, level, text: '', processName })) : undefined,
    );
    this.#reserve(maxBytes(lines, starts));
    const { buffer, byteOffset } = lines.bytes;
    // Copies may read beyond what they copy.
    const source = new DataView(buffer, byteOffset);
    const scan = lines.count < MIN_RUN ? null : scanOfThread();
    const maxLines = scan?.begin(starts.map(start => start?.bytes)) ?? 0;
    let end = 0;
    for (let index = 0; index < lines.count; ) {
      const run = lines.runLength(index, maxLines, MAX_SCANNED_BYTES);
      if (scan !== null && run >= MIN_RUN) {
        end = scan.write(lines.bytes, lines.numbers(index, run), this.#bytes, end);
        index += run;
        continue;
      }
      for (const last = index + Math.max(1, run); index < last; index += 1)
        end = this.#add(lines, index, starts, source, end);
    }
    return { at, processName, block: this.#bytes.subarray(0, end) };
  }

  /** Adds one line, and returns its end in the block. */
  #add(
    lines: OutputLines,
    index: number,
    starts: readonly (Start | undefined)[],
    source: DataView,
    at: number,
  ): number {
    const start = starts[lines.levelPlace(index)];
    if (start === undefined) return at;
    let end = copy(start.view, 0, start.bytes.length, this.#view, at);
    const from = lines.start(index);
    if (from < 0) end += this.#bytes.write(lines.text(index), end);
    else end = copy(source, from, lines.end(index), this.#view, end);
    this.#view.setUint8(end, NEWLINE);
    return end + 1;
  }

  /** Reserves somewhat more than `bytes`, because one batch is about as large as the next. */
  #reserve(bytes: number): void {
    if (this.#bytes.length >= bytes) return;
    const roomy = Math.max(bytes + (bytes >>> ROOM_SHIFT), MIN_BYTES);
    this.#bytes = Buffer.from(this.#isShared ? new SharedArrayBuffer(roomy) : new ArrayBuffer(roomy));
    this.#view = new DataView(this.#bytes.buffer);
  }
}

function startOf(text: string): Start {
  const length = Buffer.byteLength(text);
  const bytes = Buffer.alloc(length + WORD_BYTES);
  bytes.write(text);
  return { bytes: bytes.subarray(0, length), view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
}

function maxBytes(lines: OutputLines, starts: readonly (Start | undefined)[]): number {
  const longest = Math.max(...starts.map(start => start?.bytes.length ?? 0));
  return lines.bytes.length + CHARACTER_BYTES * lines.textLength + lines.count * (longest + 1) + WORD_BYTES;
}

/**
 * Copies bytes and returns the end of the copy, behind which up to seven bytes change. For pieces as short as lines
 * this is faster than a call of `Buffer.copy`. Eight bytes at a time pass unchanged as one number: the only numbers
 * that might change are NaNs, which have a byte 0xff, or 0x7f behind one from 0xf0, and UTF-8 never has these.
 */
function copy(source: DataView, from: number, to: number, target: DataView, at: number): number {
  const end = at + to - from;
  let read = from;
  let write = at;
  const last = Math.min(to, source.byteLength - WORD_BYTES + 1);
  for (; read < last; read += WORD_BYTES) {
    target.setFloat64(write, source.getFloat64(read, true), true);
    write += WORD_BYTES;
  }
  for (; read < to; read += 1) {
    target.setUint8(write, source.getUint8(read));
    write += 1;
  }
  return end;
}
