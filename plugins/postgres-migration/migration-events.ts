// The events of migrations and the notifications for them.
import type { Host } from '#core';
import type { NotificationEvent } from '../notifications/contract.ts';
import type { MigrationEvent } from './contract.ts';
import type { MigrationJob } from './job.ts';

const FAILED: readonly MigrationJob['status'][] = ['failed', 'failed_rolled_back', 'interrupted', 'rollback_failed'];

export function registerMigrationEvents(host: Host): void {
  host.event('migration.succeeded', { description: 'A service was moved to PostgreSQL' });
  host.event('migration.failed', { description: 'A move of a service to PostgreSQL has failed' });
  host.contribute('notifications.event', 'migration.succeeded', noticeOf('success') as NotificationEvent);
  host.contribute('notifications.event', 'migration.failed', noticeOf('critical') as NotificationEvent);
}

/**
 * Raises the event for the end of a job. A rehearsal that has succeeded and a rollback that has succeeded have none.
 */
export function tellOfEnd(
  host: Host,
  { job_id: jobId, process_name: processName, mode, status, error }: MigrationJob,
): void {
  const own = { processName, jobId, mode, status };
  if (FAILED.includes(status)) host.emit('migration.failed', { ...own, message: error?.message ?? 'It failed.' });
  else if (status === 'completed' && mode === 'cutover')
    host.emit('migration.succeeded', { ...own, message: 'It runs on PostgreSQL now; the way back is kept.' });
}

function noticeOf(severity: 'success' | 'critical'): NotificationEvent<MigrationEvent> {
  return {
    severity,
    describe: event => ({
      title: titleOf(event),
      body: event.message,
      serviceName: event.processName,
      metadata: { job_id: event.jobId, mode: event.mode, status: event.status },
    }),
  };
}

function titleOf({ processName, mode, status }: MigrationEvent): string {
  if (status === 'completed') return `${processName} was moved to PostgreSQL`;
  if (status === 'rollback_failed') return `${processName} could not be brought back to SQLite`;
  return mode === 'rehearsal'
    ? `The rehearsal for ${processName} on PostgreSQL has failed`
    : `${processName} was not moved to PostgreSQL`;
}
