// The routes of scheduled backups: their status, their manifests, and rescheduling.
import { z } from 'zod';
import type { Host } from '#core';
import { requestedBlock } from '#kit/requested-block';
import type { SymlinkJobs } from '../jobs/symlink-jobs.ts';
import { type ManifestFile, manifestFileSchema } from '../manifest/manifest-files.ts';
import { isAtOrBelow, type Places } from '../places/path-rules.ts';
import { backupStatus, backupStatusSchema } from './backup-status.ts';
import { listManifests } from './list-task.ts';
import type { BackupSchedule } from './schedule.ts';

const MAX_MANIFESTS = 200;

const processQuery = z.object({ process_name: z.string() });

export function registerScheduleRoutes(host: Host, schedule: BackupSchedule, jobs: SymlinkJobs, places: Places): void {
  host.route({
    method: 'GET',
    path: '/process/symlink-backup-status',
    summary: 'Tells how the scheduled snapshots of links of a process stand',
    query: processQuery,
    response: z.object({ process_name: z.string(), symlink_backup_status: backupStatusSchema }),
    handle: ({ query }) => {
      const block = requestedBlock(host.use('config.store'), query.process_name);
      return { process_name: block.processName, symlink_backup_status: backupStatus(host, schedule, block) };
    },
  });
  host.route({
    method: 'GET',
    path: '/process/symlink-backup-manifests',
    summary: 'Lists the manifests that the schedule of a process has made',
    capability: 'symlink_backup_manifest_list',
    query: processQuery,
    response: z.object({
      process_name: z.string(),
      pattern: z.string(),
      manifests: z.array(manifestFileSchema),
      count: z.int().nonnegative(),
    }),
    handle: async ({ query, signal }) => {
      const block = requestedBlock(host.use('config.store'), query.process_name);
      const name = schedule.manifestName(block);
      const files = isAtOrBelow(name.directory, places.configDir)
        ? await listManifests(name.input)
        : ((await jobs.readTask('list-manifests', name.input, signal)) as ManifestFile[]);
      const manifests = files.slice(0, MAX_MANIFESTS);
      return { process_name: block.processName, pattern: name.pattern, manifests, count: files.length };
    },
  });
  host.route({
    method: 'POST',
    path: '/process/symlink-backup/reschedule',
    summary: 'Makes the schedule of the snapshots of a process anew, from its configuration',
    capability: 'symlink_backup_schedule',
    body: processQuery,
    response: z.object({ status: z.enum(['ok', 'error']), message: z.string() }),
    handle: ({ body }) => {
      const block = requestedBlock(host.use('config.store'), body.process_name);
      schedule.reschedule(block);
      const { status, message } = backupStatus(host, schedule, block);
      return { status: status === 'unsupported' || status === 'error' ? ('error' as const) : ('ok' as const), message };
    },
  });
}
