// Finds the launched processes of runs among all living ones, by the marks in their environment.
import { type ProcessStat, userOf } from './proc-stat.ts';
import { inTurns, livingProcesses, lookSince } from './proc-table.ts';
import { type Marks, marksAt, runOf } from './run-marks.ts';
import type { StateFile } from './state-file.ts';

/**
 * The launched process of a run: its oldest living process, if that leads a group. If it does not, the launched process
 * has ended, and a group leader of the run is a descendant.
 */
export function leaderOf(runId: string): ProcessStat | undefined {
  const members = livingProcesses().filter(stat => runOf(stat) === runId);
  const begun = Math.min(...members.map(({ startTime }) => startTime));
  return members.find(({ pid, pgid, startTime }) => pid === pgid && startTime === begun);
}

/**
 * The launched processes that still live and whose launches were recorded in this state, the oldest first. Anybody
 * can give a process these marks, so only processes of the given users count.
 */
export async function launchedFrom(
  state: Pick<StateFile, 'isRecordedIn'>,
  users: ReadonlySet<number | undefined>,
): Promise<(ProcessStat & Pick<Marks, 'runId' | 'processName'>)[]> {
  const { processes } = await lookSince(performance.now());
  const leaders = processes.filter(({ pid, pgid }) => pid === pgid).sort((a, b) => a.startTime - b.startTime);
  const found: (ProcessStat & Pick<Marks, 'runId' | 'processName'>)[] = [];
  await inTurns(leaders, stat => {
    const { runId, processName, directory } = marksAt(stat.pid);
    if (runId === undefined || processName === undefined || directory === undefined) return;
    if (state.isRecordedIn(directory) && users.has(userOf(stat.pid))) found.push({ ...stat, runId, processName });
  });
  return found;
}
