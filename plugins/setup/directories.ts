// Creates directories that belong to a service, including missing parents.
import path from 'node:path';
import { Problem } from '#core';
import { reasonText } from '#kit/error-text';
import { type FileOwner, GuardedDirectory } from '#kit/guarded-directory';
import { listedPath, readMounts } from '#kit/mountinfo';
import { isSystemPath, realPlaceOf } from '#kit/system-paths';
import { unmount } from '#kit/unmount';

/** The error code of a directory with a mount whose server is gone. */
const DEAD = 'ENOTCONN';

/**
 * Makes a directory. Existing directories keep their owner; created ones get the given owner. A dead mount that an
 * earlier run has left on it is unmounted; resolves with whether there was one. Throws a Problem for a system
 * directory, except below /run, where services have directories, and for a directory behind a link that others may have
 * made.
 */
export async function makeOwned(directory: string, owner: FileOwner | null, mode = 0o755): Promise<boolean> {
  if (!path.isAbsolute(directory)) throw new Problem(400, `${directory} must be an absolute path`);
  const wanted = path.normalize(directory);
  const place = await realPlaceOf(wanted);
  if (isSystemPath(place) && !place.startsWith('/run/'))
    throw new Problem(400, `${directory} lies in a directory of the system; choose another`);
  try {
    await make(wanted, owner, mode);
    return false;
  } catch (error) {
    if (!(await unmountDead(wanted, error))) throw refusal(directory, error);
  }
  try {
    await make(wanted, owner, mode);
    return true;
  } catch (error) {
    throw refusal(directory, error);
  }
}

async function make(wanted: string, owner: FileOwner | null, mode: number): Promise<void> {
  const parent = await GuardedDirectory.open(path.dirname(wanted), { owner });
  parent.close();
  const made = await GuardedDirectory.open(wanted, { mode, owner });
  made.close();
}

/** Unmounts a dead FUSE mount from the directory. That disturbs no program, because none can use the mount any more. */
async function unmountDead(directory: string, error: unknown): Promise<boolean> {
  if ((error as NodeJS.ErrnoException).code !== DEAD) return false;
  const place = listedPath(directory);
  const isFuse = ({ type }: { readonly type: string }): boolean => type.startsWith('fuse');
  if (!(await readMounts()).some(mount => mount.directory === place && isFuse(mount))) return false;
  // A host that may not unmount it reports how to do so.
  return unmount(place, isFuse).catch(() => false);
}

function refusal(directory: string, error: unknown): Problem {
  if (error instanceof Problem) return error;
  const remedy = (error as NodeJS.ErrnoException).code === DEAD ? `; take the dead mount off: umount -l` : '';
  return new Problem(500, `the directory ${directory} cannot be made (${reasonText(error)})${remedy}`, {
    cause: error,
  });
}
