// The names in a directory with what they are, also where the file system tells the names alone.
import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { diskPath, joined, type RawPath } from '../places/raw-path.ts';

type EntryKind = 'link' | 'directory' | 'other';

export interface Entry {
  readonly name: RawPath;
  readonly kind: EntryKind;
}

/** Throws what the file system says. */
export function listEntries(directory: RawPath): Entry[] {
  try {
    return readdirSync(diskPath(directory), { withFileTypes: true, encoding: 'latin1' }).map(entry => ({
      name: entry.name,
      kind: kindOf(entry),
    }));
  } catch (error) {
    // Node asks for a kind that it was not told, but by a path that is right for ASCII alone.
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_INVALID_ARG_TYPE' && syscall !== 'lstat') throw error;
    return readdirSync(diskPath(directory), { encoding: 'latin1' }).flatMap(name => {
      const entry = lstatSync(diskPath(joined(directory, name)), { throwIfNoEntry: false });
      return entry === undefined ? [] : [{ name, kind: kindOf(entry) }];
    });
  }
}

function kindOf(entry: Pick<Stats, 'isSymbolicLink' | 'isDirectory'>): EntryKind {
  if (entry.isSymbolicLink()) return 'link';
  return entry.isDirectory() ? 'directory' : 'other';
}
