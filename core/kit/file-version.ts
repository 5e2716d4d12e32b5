// The version of a file, which tells whether what was read from it still holds.
import type { Stats } from 'node:fs';

/** Twice the coarsest clock of a file system: a file that changed more recently may change again and look the same. */
const REST_MS = 4_000;

/** A text that changes whenever the file does; null while its last change is too recent to tell. */
export function restingVersion({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string | null {
  const rests = Date.now() - Math.max(mtimeMs, ctimeMs) > REST_MS;
  return rests ? `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}` : null;
}
