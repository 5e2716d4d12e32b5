// The lines of one batch as they are written to a service's log, in one block of bytes.
import type { LogLevel } from '#core';
import { formatRecord } from '#kit/log-line';
import { type OutputLine, PlainLine } from './output-lines.ts';

const NEWLINE = 0x0a;

/** `at` is in milliseconds since the epoch. */
export function formatBlock(lines: readonly OutputLine[], at: number, processName: string): Buffer {
  const starts = new Map<LogLevel, Buffer>();
  const startOf = (level: LogLevel): Buffer => {
    const known = starts.get(level) ?? Buffer.from(formatRecord({ at, level, text: '', processName }));
    starts.set(level, known);
    return known;
  };
  const parts = lines.map(line => (line instanceof PlainLine ? line : Buffer.from(line.text)));
  const length = parts.reduce(
    (sum, { byteLength }, index) => sum + startOf(lines[index]?.level ?? 'INFO').length + byteLength + 1,
    0,
  );
  const block = Buffer.allocUnsafe(length);
  let end = 0;
  for (const [index, part] of parts.entries()) {
    end += startOf(lines[index]?.level ?? 'INFO').copy(block, end);
    end += part instanceof PlainLine ? part.copyTo(block, end) : part.copy(block, end);
    block[end] = NEWLINE;
    end += 1;
  }
  return block;
}
