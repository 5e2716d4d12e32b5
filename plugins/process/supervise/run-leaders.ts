// Finds the launched processes of runs among all living ones, by the marks in their environment.
import { type ProcessStat, userOf } from './proc-stat.ts';
import { inTurns, livingProcesses, lookSince } from './proc-table.ts';
import { identityOf, type Marks, marksAt, runOf } from './run-marks.ts';
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

type Launched = ProcessStat & Pick<Marks, 'runId' | 'processName'>;

/**
 * The launched processes that still live and whose launches were recorded in this state, the oldest first. Anybody
 * can give a process these marks, so only processes of the given users count. `others` are those of another directory
 * with the same path.
 */
export async function launchedFrom(
  state: Pick<StateFile, 'directory' | 'isRecordedIn'>,
  users: ReadonlySet<number | undefined>,
): Promise<{ readonly found: readonly Launched[]; readonly others: readonly Launched[] }> {
  const { processes } = await lookSince(performance.now());
  const leaders = processes.filter(({ pid, pgid }) => pid === pgid).sort((a, b) => a.startTime - b.startTime);
  const own = identityOf(state.directory);
  const found: Launched[] = [];
  const others: Launched[] = [];
  await inTurns(leaders, stat => {
    const { runId, processName, directory, identity = own } = marksAt(stat.pid);
    if (runId === undefined || processName === undefined || directory === undefined) return;
    if (!state.isRecordedIn(directory) || !users.has(userOf(stat.pid))) return;
    (identity === own ? found : others).push({ ...stat, runId, processName });
  });
  return { found, others };
}
