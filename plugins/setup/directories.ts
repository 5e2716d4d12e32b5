// Creates directories that belong to a service, including missing parents.
import path from 'node:path';
import { Problem } from '#core';
import { reasonText } from '#kit/error-text';
import { type FileOwner, GuardedDirectory } from '#kit/guarded-directory';
import { isSystemPath, realPlaceOf } from '#kit/system-paths';

/**
 * Existing directories keep their owner; created ones get the given owner. Throws a Problem for a system directory,
 * except below /run, where services have directories, and for one behind a link that others may have made.
 */
export async function makeOwned(directory: string, owner: FileOwner | null, mode = 0o755): Promise<void> {
  if (!path.isAbsolute(directory)) throw new Problem(400, `${directory} must be an absolute path`);
  const wanted = path.normalize(directory);
  const place = await realPlaceOf(wanted);
  if (isSystemPath(place) && !place.startsWith('/run/'))
    throw new Problem(400, `${directory} lies in a directory of the system; choose another`);
  try {
    const parent = await GuardedDirectory.open(path.dirname(wanted), { owner });
    parent.close();
    const made = await GuardedDirectory.open(wanted, { mode, owner });
    made.close();
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(500, `the directory ${directory} cannot be made (${reasonText(error)})`, {
      cause: error,
    });
  }
}
