// The lines of one batch as they are written to a log, in one block of bytes that another thread can read where it is.
import type { CapturedLines, LogLevel } from '#core';
import { LEVELS, passes } from '#kit/log-level';
import { formatRecord } from '#kit/log-line';
import type { OutputLines } from './output-lines.ts';

const NEWLINE = 0x0a;
const MIN_BYTES = 1_024;
const WORD_BYTES = 8;
/** A character of a text has at most so many bytes in UTF-8. */
const CHARACTER_BYTES = 3;

interface Start {
  readonly view: DataView;
  readonly length: number;
}

/** A block that is used again: it holds the lines that were formatted last. */
export class LogBlock {
  #bytes: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  #view: DataView<ArrayBufferLike> = new DataView(this.#bytes.buffer, 0, 0);

  /** The lines of a level that passes `threshold`; `at` is in milliseconds since the epoch. */
  format(lines: OutputLines, at: number, processName: string, threshold: LogLevel): CapturedLines {
    const starts = new Map<LogLevel, Start>();
    for (const level of LEVELS.filter(each => passes(each, threshold)))
      starts.set(level, startOf(formatRecord({ at, level, text: '', processName })));
    this.#reserve(maxBytes(lines, starts));
    const source = new DataView(lines.bytes.buffer, lines.bytes.byteOffset, lines.bytes.length);
    let end = 0;
    for (let index = 0; index < lines.count; index += 1) {
      const start = starts.get(lines.level(index));
      if (start === undefined) continue;
      end = copy(start.view, 0, start.length, this.#view, end);
      const from = lines.starts[index] ?? 0;
      if (from < 0) end += this.#bytes.write(lines.text(index), end);
      else end = copy(source, from, lines.ends[index] ?? from, this.#view, end);
      this.#bytes[end] = NEWLINE;
      end += 1;
    }
    return { at, processName, block: this.#bytes.subarray(0, end) };
  }

  #reserve(bytes: number): void {
    if (this.#bytes.length >= bytes) return;
    this.#bytes = Buffer.from(new SharedArrayBuffer(Math.max(bytes, MIN_BYTES)));
    this.#view = new DataView(this.#bytes.buffer);
  }
}

function startOf(text: string): Start {
  const bytes = Buffer.from(text);
  return { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), length: bytes.length };
}

function maxBytes(lines: OutputLines, starts: ReadonlyMap<LogLevel, Start>): number {
  let sum = 0;
  for (let index = 0; index < lines.count; index += 1) {
    const start = starts.get(lines.level(index));
    if (start === undefined) continue;
    const from = lines.starts[index] ?? 0;
    const length = from < 0 ? CHARACTER_BYTES * lines.text(index).length : (lines.ends[index] ?? from) - from;
    sum += start.length + length + 1;
  }
  return sum;
}

/**
 * Gives the end of the copy. For pieces as short as lines this is faster than a call of `Buffer.copy`. Eight bytes pass as
 * one number unchanged: the only numbers that might change have a byte 0xff, or 0x7f behind one from 0xf0, which UTF-8
 * never has.
 */
function copy(source: DataView, from: number, to: number, target: DataView, at: number): number {
  let read = from;
  let end = at;
  for (; read + WORD_BYTES <= to; read += WORD_BYTES) {
    target.setFloat64(end, source.getFloat64(read, true), true);
    end += WORD_BYTES;
  }
  for (; read < to; read += 1) {
    target.setUint8(end, source.getUint8(read));
    end += 1;
  }
  return end;
}
