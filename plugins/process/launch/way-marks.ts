// A text that marks the state of paths: while it is the same, the same directories, links and files stand on them, with
// the same modes and owners.
import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';
import { localPlaces } from '#kit/local-place';

/** undefined when a path is on a mount that may not answer. Access lists are not part of the text. */
export async function wayMarks(places: readonly string[]): Promise<string | undefined> {
  const isLocal = await localPlaces();
  if ((await Promise.all(places.map(isLocal))).includes(false)) return undefined;
  const ends = await Promise.all(places.map(place => realpath(place).catch(() => place)));
  const parts = new Set([...places, ...ends].flatMap(partsOf));
  return (await Promise.all([...parts].map(markOf))).join('\n');
}

/** The place, and every directory above it. */
function partsOf(place: string): string[] {
  const parent = path.dirname(place);
  return parent === place ? [place] : [...partsOf(parent), place];
}

async function markOf(part: string): Promise<string> {
  try {
    const { dev, ino, mode, uid, gid } = await lstat(part);
    return `${part} ${dev}:${ino}:${mode}:${uid}:${gid}`;
  } catch (error) {
    return `${part} ${(error as NodeJS.ErrnoException).code}`;
  }
}
