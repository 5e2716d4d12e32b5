// The entries of a directory with their types, even when the file system lists only names.
import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { diskPath, diskPathsIn, type RawPath } from '../places/raw-path.ts';

export type Entry = Pick<Dirent, 'isSymbolicLink' | 'isDirectory'> & { readonly name: RawPath };

const TYPED = { withFileTypes: true, encoding: 'latin1' } as const;

/** Throws the error of the file system. */
export function listEntries(directory: RawPath): readonly Entry[] {
  try {
    return readdirSync(diskPath(directory), TYPED);
  } catch (error) {
    // Node itself looks up types that are not listed, but with a path that is right only for ASCII names.
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_INVALID_ARG_TYPE' && syscall !== 'lstat') throw error;
    const placeOf = diskPathsIn(directory);
    return readdirSync(diskPath(directory), { encoding: 'latin1' }).flatMap(name => {
      const entry = lstatSync(placeOf(name), { throwIfNoEntry: false });
      return entry === undefined ? [] : [Object.assign(entry, { name })];
    });
  }
}

/** Sorts names by their bytes. Node lists most directories in this order, and checking it costs half of a sort. */
export function inOrder(names: RawPath[]): RawPath[] {
  for (let at = 1; at < names.length; at += 1)
    if ((names[at - 1] as RawPath) > (names[at] as RawPath)) return names.sort();
  return names;
}
