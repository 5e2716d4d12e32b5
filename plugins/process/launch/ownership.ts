// Gives the logs that the host has made to the service user, for example after a change of `puid`.
import path from 'node:path';
import { type FileOwner, GuardedDirectory, giveFile } from '#kit/guarded-directory';
import { rotatedNames } from '#kit/rotating-file';

/**
 * Gives the logs and their rotated files, known by their names, and nothing else. A directory of root's is given too
 * when it holds nothing but such files. Returns how many entries have changed their owner. A directory in which that
 * fails is passed to `onFault`, and hinders no other.
 */
export async function repairOwnership(
  logs: readonly string[],
  owner: FileOwner,
  onFault: (directory: string, error: unknown) => void,
): Promise<number> {
  let repaired = 0;
  for (const place of new Set(logs.map(log => path.dirname(log)))) {
    const ownLogs = logs.filter(log => path.dirname(log) === place);
    try {
      repaired += await repairIn(place, ownLogs, owner);
    } catch (error) {
      onFault(place, error);
    }
  }
  return repaired;
}

async function repairIn(place: string, logs: readonly string[], owner: FileOwner): Promise<number> {
  const directory = await GuardedDirectory.open(place).catch(ignoreAbsent);
  if (directory === undefined) return 0;
  try {
    return await repair(directory, logs, owner);
  } finally {
    directory.close();
  }
}

async function repair(directory: GuardedDirectory, logs: readonly string[], owner: FileOwner): Promise<number> {
  const names = await directory.names();
  const own = new Set(logs.flatMap(log => [path.basename(log), ...rotatedNames(names, log)]));
  let repaired = names.every(name => own.has(name)) && (await directory.give(owner)) ? 1 : 0;
  for (const name of names.filter(found => own.has(found))) {
    const entry = await directory.stat(name);
    // A log may be rotated away meanwhile. The host has made no entry that is not a regular file or has several names.
    if (entry?.isFile() !== true || entry.nlink !== 1 || (entry.uid === owner.uid && entry.gid === owner.gid)) continue;
    const handle = await directory.openFile(name, 'read').catch(ignoreAbsent);
    if (handle === undefined) continue;
    try {
      if (await giveFile(handle, owner)) repaired += 1;
    } finally {
      await handle.close();
    }
  }
  return repaired;
}

function ignoreAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
