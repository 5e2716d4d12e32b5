// Reads texts that the kernel makes: they come from memory, so that a read neither waits for a disk nor for a mount.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** null when it cannot be read: what it tells of is gone, or may not be seen. */
export function procText(file: string): string | null {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return null;
  }
}

/** Empty when it cannot be read. */
export function procNames(directory: string): string[] {
  try {
    return readdirSync(directory, 'latin1');
  } catch {
    return [];
  }
}

export function procLink(file: string): string | null {
  try {
    return readlinkSync(file, 'latin1');
  } catch {
    return null;
  }
}

/** The numbers of a text of lines `name value`, such as `memory.stat`, `cpu.stat` and `io`. */
export function procNumbers(text: string): ReadonlyMap<string, number> {
  return new Map(
    text.split('\n').flatMap(line => {
      const found = /^([^\s:]+):?\s+(\d+)/.exec(line);
      return found === null ? [] : [[found[1] ?? '', Number(found[2])] as const];
    }),
  );
}

/** What is used of a total, in percent with one decimal; null when there is nothing to use. */
export function percentOf(used: number, total: number): number | null {
  if (!(total > 0)) return null;
  return Math.round(Math.min(Math.max(used / total, 0), 1) * 1_000) / 10;
}
