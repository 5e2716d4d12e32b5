// Creates directories that belong to a service, including missing parents.
import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { Problem } from '#core';
import { isSystemPath, realPlaceOf } from '#kit/system-paths';

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Existing directories keep their owner; created ones get the given owner. Throws a Problem for a system directory,
 * except below /run, where services have directories.
 */
export async function makeOwned(directory: string, owner: Owner | null, mode = 0o755): Promise<void> {
  if (!path.isAbsolute(directory)) throw new Problem(400, `${directory} must be an absolute path`);
  const place = await realPlaceOf(path.normalize(directory));
  if (isSystemPath(place) && !place.startsWith('/run/'))
    throw new Problem(400, `${directory} lies in a directory of the system; choose another`);
  try {
    const first = await mkdir(place, { recursive: true, mode });
    if (first === undefined) return;
    for (let made = place; made.startsWith(first); made = path.dirname(made)) {
      // Changed through its descriptor, so that a link put in its place meanwhile is not followed.
      const handle = await open(made, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      try {
        if (owner !== null) await handle.chown(owner.uid, owner.gid);
        if (made === place) await handle.chmod(mode);
      } finally {
        await handle.close();
      }
    }
  } catch (error) {
    throw new Problem(500, `the directory ${directory} cannot be made (${(error as NodeJS.ErrnoException).code})`, {
      cause: error,
    });
  }
}
