// Finds a server that already runs on a data directory, so that it is adopted instead of started twice on the same
// files.
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { Problem } from '#core';
import { requireAnswer } from '#kit/answering';
import { GuardedDirectory } from '#kit/guarded-directory';
import type { Survivor, SurvivorSearch } from '../process/contract.ts';

const MAX_BYTES = 4_096;

/**
 * The server that `postmaster.pid` in the directory names, or null when none runs. Its first line is the pid; a
 * server's working directory is its data directory (PostgreSQL documentation, "Starting the Database Server"). Throws a
 * Problem 500 when several processes could be the server.
 */
export async function findRunningServer(
  directory: unknown,
  workingIn: Parameters<SurvivorSearch['find']>[1],
): Promise<Survivor | null> {
  if (typeof directory !== 'string' || directory === '') return null;
  await requireAnswer([directory]);
  const dataDir = await realpath(directory).catch(() => null);
  if (dataDir === null) return null;
  const file = path.join(dataDir, 'postmaster.pid');
  const bytes = await GuardedDirectory.at(file, (place, name) => place.read(name, MAX_BYTES)).catch(() => null);
  if (bytes === null) return null;
  const [pid = Number.NaN] = bytes.toString('utf8').split('\n', 1).map(Number);
  const workers = workingIn(dataDir);
  const leaders = workers.filter(({ parentPid }) => !workers.some(other => other.pid === parentPid));
  const [server] = leaders;
  if (server === undefined) return null;
  if (leaders.length > 1 || server.pid !== pid) {
    const pids = leaders.map(leader => leader.pid).join(', ');
    throw new Problem(
      500,
      `${dataDir} is in use by processes that are not its one database server (${pids}); end them, then start again`,
    );
  }
  return { pid };
}
