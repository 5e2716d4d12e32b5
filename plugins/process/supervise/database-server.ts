// A PostgreSQL server that already runs on a data directory: adopted rather than started a second time on the same files.
import { readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import { Problem } from '#core';
import { bootId, processesIn } from './proc-table.ts';
import type { FoundProcess } from './state-file.ts';

const MS_PER_S = 1_000;

/**
 * The server that `postmaster.pid` in the directory names, or null when none runs there. Its first line is the pid, its
 * third the start in Unix seconds; a server works in its data directory (PostgreSQL documentation, "Starting the
 * Database Server"). Throws a Problem 500 when it cannot be told which of several processes is the server.
 */
export async function findDatabaseServer(directory: string): Promise<FoundProcess | null> {
  const dataDir = await realpath(directory).catch(() => null);
  if (dataDir === null) return null;
  const text = await readFile(path.join(dataDir, 'postmaster.pid'), 'utf8').catch(() => null);
  if (text === null) return null;
  const [pid = Number.NaN, , startedAt = Date.now() / MS_PER_S] = text.split('\n').map(Number);
  const workers = processesIn(dataDir);
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
  return {
    pid,
    pgid: server.pgid,
    start_time: server.startTime,
    boot_id: bootId,
    started_at: startedAt,
    run_id: '',
  };
}
