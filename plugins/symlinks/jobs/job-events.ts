// The events of jobs, and their notifications.
import type { Host } from '#core';
import type { NotificationEvent } from '../../notifications/contract.ts';
import type { SymlinkJobEvent } from '../contract.ts';
import type { SymlinkJob } from './symlink-job.ts';
import type { SymlinkJobs } from './symlink-jobs.ts';

const TITLES: Readonly<Record<string, string>> = {
  symlink_repair: 'The repair of links',
  symlink_manifest_backup: 'The snapshot of links',
  symlink_manifest_restore: 'The restore of links',
};

export function registerJobEvents(host: Host): void {
  host.event('symlink.job.succeeded', { description: 'A job with symlinks is done' });
  host.event('symlink.job.failed', { description: 'A job with symlinks has failed' });
  host.contribute('notifications.event', 'symlink.job.succeeded', noticeOf('success', 'is done') as NotificationEvent);
  host.contribute('notifications.event', 'symlink.job.failed', noticeOf('critical', 'has failed') as NotificationEvent);
}

/**
 * Emits the events of jobs that end, and of those that were found interrupted; to be called when other plugins listen.
 * Jobs of requests that wait for the result have no events.
 */
export function tellOfEnds(host: Host, jobs: SymlinkJobs): void {
  const tell = (job: SymlinkJob): void => {
    const { state, endedAt, input } = job;
    if (endedAt === null || input.trigger === 'request') return;
    const isScheduled = input.trigger === 'schedule';
    const own = { processName: input.processName, jobId: job.id, operation: input.operation, isScheduled };
    if (state !== 'succeeded') host.emit('symlink.job.failed', { ...own, message: failureOf(job) });
    else if (!isScheduled)
      host.emit('symlink.job.succeeded', { ...own, message: `It is done for ${input.processName}.` });
  };
  jobs.watch(tell);
  for (const job of jobs.found()) tell(job);
}

function noticeOf(severity: 'success' | 'critical', verb: string): NotificationEvent<SymlinkJobEvent> {
  return {
    severity,
    order: 800,
    describe: ({ processName, jobId, operation, message, isScheduled }) => ({
      title: `${TITLES[operation] ?? operation} ${verb}`,
      body: message,
      serviceName: processName,
      metadata: { job_id: jobId, operation, ...(isScheduled && { trigger: 'schedule' }) },
    }),
  };
}

function failureOf({ error }: SymlinkJob): string {
  return error?.message ?? 'It failed.';
}
