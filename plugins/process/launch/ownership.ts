// Gives the logs that the host has made to the users of the services, for example after a change of `puid`.
import path from 'node:path';
import { type FileOwner, GuardedDirectory, giveFile } from '#kit/guarded-directory';
import { rotatedNames } from '#kit/rotating-file';

/** A path with the owner of what lies there. */
type OwnedLog = readonly [string, FileOwner];

/**
 * Gives the logs and their rotated files, known by their names, to the owners of the logs, and nothing else. A
 * directory of root's is given too when it holds nothing but such files. Returns how many entries have changed their
 * owner. A directory in which that fails is passed to `onFault`, and hinders no other.
 */
export async function repairOwnership(
  logs: ReadonlyMap<string, FileOwner>,
  onFault: (directory: string, error: unknown) => void,
): Promise<number> {
  let repaired = 0;
  for (const place of new Set([...logs.keys()].map(log => path.dirname(log)))) {
    const ownLogs = [...logs].filter(([log]) => path.dirname(log) === place);
    try {
      repaired += await repairIn(place, ownLogs);
    } catch (error) {
      onFault(place, error);
    }
  }
  return repaired;
}

async function repairIn(place: string, logs: readonly OwnedLog[]): Promise<number> {
  const directory = await GuardedDirectory.open(place).catch(ignoreAbsent);
  if (directory === undefined) return 0;
  try {
    return await repair(directory, logs);
  } finally {
    directory.close();
  }
}

async function repair(directory: GuardedDirectory, logs: readonly OwnedLog[]): Promise<number> {
  const names = await directory.names();
  const filesOf = (log: string): string[] => [path.basename(log), ...rotatedNames(names, log)];
  const owners = new Map(logs.flatMap(([log, owner]) => filesOf(log).map((name): OwnedLog => [name, owner])));
  const [[, first] = []] = logs;
  let repaired = first !== undefined && names.every(name => owners.has(name)) && (await directory.give(first)) ? 1 : 0;
  for (const [name, owner] of owners) {
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
