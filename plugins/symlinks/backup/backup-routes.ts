// The routes that write a snapshot of links.
import type { z } from 'zod';
import type { Host } from '#core';
import { queueJob, startedJob } from '../jobs/job-wire.ts';
import type { SymlinkJobs } from '../jobs/symlink-jobs.ts';
import type { Places } from '../places/path-rules.ts';
import { type BackupResult, backupAnswer, backupBody, backupOptions } from './backup-request.ts';

const CALL_DEADLINE_MS = 6 * 3_600_000;
const UNNAMED = 'symlink-manifest';

export function registerBackupRoutes(host: Host, jobs: SymlinkJobs, places: Places): void {
  const orderOf = (body: z.output<typeof backupBody>) => {
    const options = backupOptions(body, places);
    return { operation: 'symlink_manifest_backup' as const, processName: options.process_name ?? UNNAMED, options };
  };
  host.route({
    method: 'POST',
    path: '/process/symlink-manifest/backup',
    summary: 'Writes a manifest of all links below the roots',
    capability: 'symlink_manifest_backup',
    body: backupBody,
    response: backupAnswer,
    deadlineMs: CALL_DEADLINE_MS,
    handle: async ({ body, signal }) => (await jobs.call(orderOf(body), signal)) as BackupResult,
  });
  host.route({
    method: 'POST',
    path: '/process/symlink-manifest/backup-async',
    summary: 'Queues the writing of a manifest of links as a job',
    capability: 'symlink_manifest_backup_async',
    body: backupBody,
    response: startedJob,
    handle: ({ body, signal }) => queueJob(jobs, orderOf(body), signal),
  });
}
