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
