// Makes directories that belong to a service, parents included.
import { chmod, lchown, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { Problem } from '#core';

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** What is there already keeps its owner; everything that had to be made gets the given one. */
export async function makeOwned(directory: string, owner: Owner | null, mode = 0o755): Promise<void> {
  if (!path.isAbsolute(directory)) throw new Problem(400, `${directory} must be an absolute path`);
  try {
    const first = await mkdir(directory, { recursive: true, mode });
    if (first === undefined) return;
    for (let made = directory; made.startsWith(first); made = path.dirname(made)) {
      if (owner !== null) await lchown(made, owner.uid, owner.gid);
    }
    await chmod(directory, mode);
  } catch (error) {
    throw new Problem(500, `the directory ${directory} cannot be made (${(error as NodeJS.ErrnoException).code})`, {
      cause: error,
    });
  }
}
