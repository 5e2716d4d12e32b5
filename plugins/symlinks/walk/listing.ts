// The names in a directory with what they are, also where the file system tells the names alone.
import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { diskPath, diskPathsIn, type RawPath } from '../places/raw-path.ts';

export type Entry = Pick<Dirent, 'isSymbolicLink' | 'isDirectory'> & { readonly name: RawPath };

const TYPED = { withFileTypes: true, encoding: 'latin1' } as const;

/** Throws what the file system says. */
export function listEntries(directory: RawPath): readonly Entry[] {
  try {
    return readdirSync(diskPath(directory), TYPED);
  } catch (error) {
    // Node asks for a kind that it was not told, but by a path that is right for ASCII alone.
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_INVALID_ARG_TYPE' && syscall !== 'lstat') throw error;
    const placeOf = diskPathsIn(directory);
    return readdirSync(diskPath(directory), { encoding: 'latin1' }).flatMap(name => {
      const entry = lstatSync(placeOf(name), { throwIfNoEntry: false });
      return entry === undefined ? [] : [Object.assign(entry, { name })];
    });
  }
}

/**
 * Sorts names by the values of their bytes. Node lists most directories so, and to see that costs half as much as to
 * sort.
 */
export function inOrder(names: RawPath[]): RawPath[] {
  for (let at = 1; at < names.length; at += 1)
    if ((names[at - 1] as RawPath) > (names[at] as RawPath)) return names.sort();
  return names;
}
