// Names for what stands for a while, or as a copy, beside a file: they fit into a directory however long the file's own
// name is.
import { createHash } from 'node:crypto';

/** Of a name in every file system that the host writes to. */
const MAX_NAME_BYTES = 255;
const DIGEST_CHARACTERS = 12;

/**
 * The name with which such a name begins or ends: the file's own, or, where that leaves no room for as many bytes more,
 * a part of it and a digest that tells it from others.
 */
export function besideName(name: string, roomBytes: number): string {
  const bytes = Buffer.from(name);
  if (bytes.length + roomBytes <= MAX_NAME_BYTES) return name;
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, DIGEST_CHARACTERS);
  const kept = bytes.subarray(0, MAX_NAME_BYTES - roomBytes - DIGEST_CHARACTERS - 1);
  // A character that is cut in two is left out.
  return `${new TextDecoder().decode(kept, { stream: true })}-${digest}`;
}
