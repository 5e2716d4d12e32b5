// The launched processes of runs, found among all that live by the marks that they were given.
import { type ProcessStat, userOf } from './proc-stat.ts';
import { inTurns, livingProcesses, lookSince } from './proc-table.ts';
import { type Marks, marksAt, runOf } from './run-marks.ts';

/**
 * The launched process of a run: the oldest that lives of it, if it leads a group. Where another is older, the launched
 * one has ended, and a leader is a descendant.
 */
export function leaderOf(runId: string): ProcessStat | undefined {
  const members = livingProcesses().filter(stat => runOf(stat) === runId);
  const begun = Math.min(...members.map(({ startTime }) => startTime));
  return members.find(({ pid, pgid, startTime }) => pid === pgid && startTime === begun);
}

/**
 * The launched processes that still live and whose launches were recorded in this directory, the oldest first. Anybody
 * can give a process these marks, so only processes of the given users count.
 */
export async function launchedFrom(
  directory: string,
  users: ReadonlySet<number | undefined>,
): Promise<(ProcessStat & Pick<Marks, 'runId' | 'processName'>)[]> {
  const { processes } = await lookSince(performance.now());
  const leaders = processes.filter(({ pid, pgid }) => pid === pgid).sort((a, b) => a.startTime - b.startTime);
  const found: (ProcessStat & Pick<Marks, 'runId' | 'processName'>)[] = [];
  await inTurns(leaders, stat => {
    const { runId, processName, directory: recordedIn } = marksAt(stat.pid);
    if (recordedIn !== directory || !users.has(userOf(stat.pid))) return;
    if (runId !== undefined && processName !== undefined) found.push({ ...stat, runId, processName });
  });
  return found;
}
