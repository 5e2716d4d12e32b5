// Finds the scheduled backup that an earlier host has made without recording it, because it was killed in between.
import type { BackupOptions, BackupResult } from '../backup/backup-request.ts';
import type { SymlinkJobs } from '../jobs/symlink-jobs.ts';
import type { MadeInput, MadeResult } from './made-task.ts';
import type { ScheduleRecord } from './schedule-state.ts';

const MS_PER_S = 1_000;

export interface UnrecordedRun {
  /** When it ended, as far as that is known. */
  readonly at: Date;
  readonly manifest: string;
  readonly entries: number;
  /** null when the host was killed before it had the result of its child. */
  readonly result: BackupResult | null;
}

/** undefined when every run of the process is in its record, or the last one has made nothing. */
export async function unrecordedRun(
  jobs: SymlinkJobs,
  processName: string,
  record: ScheduleRecord | undefined,
  signal: AbortSignal,
): Promise<UnrecordedRun | undefined> {
  const job = jobs.lastScheduled(processName);
  const startedAt = job?.startedAt ?? null;
  if (job === undefined || startedAt === null) return undefined;
  if (record !== undefined && Math.floor(startedAt / MS_PER_S) <= record.last_run) return undefined;
  // The clock was ahead then, and later runs may be recorded with earlier times.
  if (startedAt > Date.now()) return undefined;
  const result = (await jobs.result(job.id)) as BackupResult | null;
  if (result !== null) {
    const { backup_manifest: manifest, recorded_entries: entries } = result;
    return { at: new Date(job.endedAt ?? startedAt), manifest, entries, result };
  }
  if (job.state !== 'interrupted') return undefined;
  const { backup_path: manifest } = job.input.options as BackupOptions;
  const made = (await jobs.readTask(
    'find-made',
    { manifest, processName, startedAt } satisfies MadeInput,
    signal,
  )) as MadeResult;
  return made === null ? undefined : { at: new Date(made.createdAt), manifest, entries: made.entries, result: null };
}
