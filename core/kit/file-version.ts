// The version of a file, by which what was read of it is known to be still true.
import type { Stats } from 'node:fs';

/** Twice the coarsest clock of a file system: a file that changed later may change again and look the same. */
const REST_MS = 4_000;

/** A text that changes whenever the file does; null while its last change is too recent to tell. */
export function restingVersion({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string | null {
  const rests = Date.now() - Math.max(mtimeMs, ctimeMs) > REST_MS;
  return rests ? `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}` : null;
}
