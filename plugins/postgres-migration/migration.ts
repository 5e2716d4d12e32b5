// One migration from its beginning to its end. A failed migration is taken back; one that the end of the host
// interrupts is left to its next start.
import type { Host } from '#core';
import type { HeldProcess } from '../process/contract.ts';
import { faultOfBackup } from './backup.ts';
import { cutOver, setAside, stopAndProve } from './cutover.ts';
import { hasReached, type JobFailure, unixSeconds } from './job.ts';
import type { LiveJob } from './live-job.ts';
import type { MigrationContext } from './migration-context.ts';
import { failureOf } from './migration-fault.ts';
import type { Preparation } from './preparation.ts';
import { rehearse } from './rehearsal.ts';
import { restoreService } from './restore.ts';

export interface Migration extends Preparation {
  readonly held: HeldProcess;
}

/** Resolves when the job has ended, or the host ends. */
export async function migrate(context: MigrationContext, migration: Migration): Promise<void> {
  const { live } = migration;
  const run = live.job.mode === 'cutover' ? cutOver : rehearse;
  try {
    await live.change({ status: 'running', started_at: unixSeconds() });
    await run(context, migration);
  } catch (error) {
    if (isEnding(context.host)) return;
    const failure = failureOf(error, live.job.progress?.stage ?? 'preflight');
    context.host.log.error(`the migration of ${live.job.process_name} failed: ${failure.message}`);
    await takeBack(context, migration, failure);
  }
}

/** Whether the host or this plugin is ending. Migrations under way are then left to its next start. */
export function isEnding({ signal, stopping }: Host): boolean {
  return signal.aborted || stopping !== null;
}

/**
 * Brings everything back to what it was and ends the job with `error`; what the end of the host cuts off is left to its
 * next start. The service starts even on a full disk: the files of the migration are removed before, and no record has
 * to be written first.
 */
async function takeBack(context: MigrationContext, migration: Migration, error: JobFailure): Promise<void> {
  const { host } = context;
  const { subject, live, held } = migration;
  const { processName } = subject;
  const wasStopped = live.work.stoppedAtMs !== null;
  live.tell(live.job.progress?.stage ?? 'preflight', live.job.progress?.percent ?? 0, error.message);
  await discard(context, live);
  // Before anything is put back: the next host then knows, whatever checkpoint the job had reached.
  await live
    .note({ isUndoDue: true })
    .catch((failed: unknown) => host.log.warn('that a migration is taken back could not be recorded', failed));
  try {
    if (wasStopped) {
      if (held.snapshot().pid !== null) await stopAndProve(context, held);
      if (hasReached(live.job, 'cold_backup_verified'))
        await restoreService(context, migration, { keepsPresent: false });
      if (live.job.was_running) await held.start();
    }
  } catch (failed) {
    if (isEnding(host)) return;
    host.log.error(`${processName} could not be brought back to SQLite`, failed);
    return endNotBack(context, live, error);
  }
  await undoInServer(context, live);
  live.tell('failed', 100, wasStopped ? `${processName} is on SQLite as before` : `${processName} was not changed`);
  await live.end('failed_rolled_back', { error, rollback_available: false });
}

/** Ends a job whose service could not be brought back. Its databases stay once they have the names that it may use. */
async function endNotBack(context: MigrationContext, live: LiveJob, error: JobFailure): Promise<void> {
  const { backup_dir: directory, process_name: processName } = live.job;
  const fault = directory === null ? 'there is no backup' : await faultOfBackup(directory, live.work.backup);
  const isPromoted = hasReached(live.job, 'target_promoted');
  if (!isPromoted) await undoInServer(context, live);
  live.tell('failed', 100, `${error.message}; ${processName} could not be brought back to SQLite`);
  const end = { error, rollback_available: directory !== null && fault === undefined };
  await live.end('failed', end, isPromoted ? { isUndoDue: false, preserved: setAside(live.work) } : {});
}

/** Removes what a failed job needs no more: its work directory, and a backup that is not complete. */
async function discard({ host, places }: MigrationContext, live: LiveJob): Promise<void> {
  const { job_id: jobId, process_name: processName } = live.job;
  const isWhole = hasReached(live.job, 'cold_backup_verified');
  const removals = [places.removeWork(jobId), ...(isWhole ? [] : [places.removeBackup(processName, jobId)])];
  for (const { status, reason } of (await Promise.allSettled(removals)) as PromiseRejectedResult[])
    if (status === 'rejected') host.log.warn('the work of a migration could not be removed', reason);
}

/** Takes back what the job did in PostgreSQL. When the server does not answer, this is done again once it runs. */
export async function undoInServer({ host, server }: MigrationContext, live: LiveJob): Promise<void> {
  try {
    await server.undo(live.work.databases);
    await live.note({ isUndoDue: false });
  } catch (error) {
    const { message } = failureOf(error, 'cleanup');
    host.log.warn(`databases of a migration are still in PostgreSQL: ${message}; they are removed when it runs again`);
  }
}
