// Names for temporary files and copies beside a file: they are short enough however long the file's own name is.
import { createHash } from 'node:crypto';

/** The longest name that every file system takes that the host writes to. */
const MAX_NAME_BYTES = 255;
const DIGEST_CHARACTERS = 12;

/**
 * The part of such a name that stands for the file, with room for `roomBytes` more: the file's own name, or a part of
 * it with a digest of the whole.
 */
export function besideName(name: string, roomBytes: number): string {
  const bytes = Buffer.from(name);
  if (bytes.length + roomBytes <= MAX_NAME_BYTES) return name;
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, DIGEST_CHARACTERS);
  const kept = bytes.subarray(0, MAX_NAME_BYTES - roomBytes - DIGEST_CHARACTERS - 1);
  // A character that is cut in two is left out.
  return `${new TextDecoder().decode(kept, { stream: true })}-${digest}`;
}
