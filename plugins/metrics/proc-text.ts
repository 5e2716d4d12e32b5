// Reads texts that the kernel makes. They come from memory, so a read waits neither for a disk nor for a mount.
import { readdirSync, readlinkSync } from 'node:fs';
import { kernelRecord, kernelText } from '#kit/kernel-text';

const ZERO = 48;
const NINE = 57;
const FORBIDDEN = new Set(['EACCES', 'EPERM']);

/** null when the file cannot be read: its process or device is gone, or the host may not read it. */
export function procText(file: string): string | null {
  try {
    return kernelText(file);
  } catch {
    return null;
  }
}

/** See `kernelRecord`; null when the file cannot be read. */
export function procRecord(file: string): Buffer | null {
  try {
    return kernelRecord(file);
  } catch {
    return null;
  }
}

/** Fills `numbers` with the runs of digits from `start` on; places for which there is no number are NaN. */
export function readNumbers(bytes: Uint8Array, start: number, numbers: Float64Array): void {
  let value = Number.NaN;
  let found = 0;
  for (let index = start; index <= bytes.length && found < numbers.length; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte >= ZERO && byte <= NINE) value = (Number.isNaN(value) ? 0 : value * 10) + byte - ZERO;
    else if (!Number.isNaN(value)) {
      numbers[found] = value;
      found += 1;
      value = Number.NaN;
    }
  }
  numbers.fill(Number.NaN, found);
}

/** The names in a directory; empty when the directory cannot be read. */
export function procNames(directory: string): string[] {
  try {
    return readdirSync(directory, 'latin1');
  } catch {
    return [];
  }
}

/** The target of a link; null when it is gone. Throws EACCES or EPERM when the host may not read it. */
export function procLink(file: string): string | null {
  try {
    return readlinkSync(file, 'latin1');
  } catch (error) {
    if (FORBIDDEN.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return null;
  }
}

/** The numbers of a text of lines `name value`, such as `memory.stat` and `cpu.stat`. */
export function procNumbers(text: string): ReadonlyMap<string, number> {
  return new Map(
    text.split('\n').flatMap(line => {
      const found = /^([^\s:]+):?\s+(\d+)/.exec(line);
      return found === null ? [] : [[found[1] ?? '', Number(found[2])] as const];
    }),
  );
}

/** `used` in percent of `total`, with one decimal; null when `total` is not above zero. */
export function percentOf(used: number, total: number): number | null {
  if (!(total > 0)) return null;
  return Math.round(Math.min(Math.max(used / total, 0), 1) * 1_000) / 10;
}
