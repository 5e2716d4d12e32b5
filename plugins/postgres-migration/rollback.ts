// Brings a service that was moved back to its SQLite files, on request. PostgreSQL need not run: its databases are left
// as they are.
import { type Host, Problem } from '#core';
import { errorText } from '#kit/error-text';
import type { HeldProcess } from '../process/contract.ts';
import { faultOfBackup } from './backup.ts';
import { stopAndProve } from './cutover.ts';
import type { LiveJob } from './live-job.ts';
import { isEnding } from './migration.ts';
import type { MigrationContext } from './migration-context.ts';
import { findLost, type Restoring, restoreDatabases, restoreService } from './restore.ts';
import { waitUntilHealthy } from './service-watch.ts';

const HEALTHY = { isStarted: true, limitMs: 90_000, steadyMs: 5_000 };
const WARNING = 'What was written to PostgreSQL after the move is not in SQLite.';

export interface Rollback extends Restoring {
  readonly held: HeldProcess;
}

/**
 * The job must be one that can be rolled back. Every step can be repeated. Rejects with a Problem 500 after the failure
 * was recorded in the job.
 */
export async function rollBack(context: MigrationContext, rollback: Rollback): Promise<void> {
  const { host } = context;
  const { subject, live, held, signal } = rollback;
  let hasChanged = false;
  try {
    const { pid, enabled, stoppedByUser } = held.snapshot();
    // Also true when the service ran before the move: after a restart of the host it may not have been started yet.
    const isWanted = pid !== null || (live.job.was_running && enabled && !stoppedByUser);
    if (live.job.status !== 'rolling_back') await live.change({ status: 'rolling_back', was_running: isWanted });
    await stopAndProve(context, held);
    const lost = await findLost(context, rollback).catch(async (error: unknown) => {
      if (pid !== null) await goOn(host, held);
      throw error;
    });
    await restoreDatabases(context, rollback, lost);
    hasChanged = true;
    await restoreService(context, rollback, { keepsPresent: true });
    if (isWanted) await held.start();
    if (isWanted) await waitUntilHealthy(host, subject.processName, signal, HEALTHY);
    await succeed(live, isWanted);
  } catch (error) {
    if (isEnding(host)) throw error;
    await fail(host, live, error, hasChanged);
  }
}

/** Starts a service again for which nothing was changed. */
async function goOn(host: Host, held: HeldProcess): Promise<void> {
  if (isEnding(host)) return;
  const { processName } = held.snapshot();
  await held.start().catch(error => host.log.error(`${processName} could not be started again`, error));
}

async function succeed(live: LiveJob, isStarted: boolean): Promise<void> {
  live.tell('rolled_back', 100, `${live.job.process_name} is back on SQLite`);
  const rollback = {
    restored_config: live.job.app_config_backup,
    sqlite_preserved: true,
    service_restarted: isStarted,
    warning: WARNING,
  };
  await live.end('rolled_back', { rollback, rollback_available: false });
}

async function fail(host: Host, live: LiveJob, error: unknown, hasChanged: boolean): Promise<never> {
  const message = `${live.job.process_name} could not be brought back to SQLite: ${errorText(error)}`;
  host.log.error(message, error);
  live.tell('rollback_failed', 100, message);
  await live.end('rollback_failed', {
    rollback: { restored: false, retry_safe: !hasChanged, message },
    rollback_available: !hasChanged,
  });
  throw new Problem(500, message);
}

/** Rejects with a Problem 400 when the backup of the job is missing or was altered. */
export async function checkBackup({ job, work }: Pick<LiveJob, 'job' | 'work'>): Promise<void> {
  const fault = job.backup_dir === null ? 'it has none' : await faultOfBackup(job.backup_dir, work.backup);
  if (fault !== undefined)
    throw new Problem(400, `The backup of this migration cannot be relied on: ${fault}; nothing was changed`);
}
