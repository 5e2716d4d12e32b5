// Gives the log directory and the logs in it to the service user, for example after a change of `puid`.
import { lchown, lstat, opendir } from 'node:fs/promises';
import path from 'node:path';

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** The directory comes first, then its files. Links are not followed, and other file systems are not entered. */
export async function repairOwnership(directory: string, owner: Owner): Promise<number> {
  const top = await lstat(directory);
  let repaired = await repair(directory, top, owner);
  for await (const entry of await opendir(directory)) {
    if (!entry.isFile()) continue;
    const file = path.join(directory, entry.name);
    const found = await lstat(file);
    if (found.dev === top.dev && found.nlink === 1) repaired += await repair(file, found, owner);
  }
  return repaired;
}

async function repair(file: string, found: Owner, { uid, gid }: Owner): Promise<number> {
  if (found.uid === uid && found.gid === gid) return 0;
  await lchown(file, uid, gid);
  return 1;
}
