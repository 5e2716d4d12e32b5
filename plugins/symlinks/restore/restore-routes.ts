// The routes that restore a manifest, or preview that.
import type { z } from 'zod';
import type { Host } from '#core';
import { queueJob, startedJob } from '../jobs/job-wire.ts';
import type { SymlinkJobs } from '../jobs/symlink-jobs.ts';
import { manifestPathOf } from '../manifest/manifest-path.ts';
import { mountsDown } from '../places/mounts-down.ts';
import type { Places } from '../places/path-rules.ts';
import {
  type CompareResult,
  compareAnswer,
  compareQuery,
  type RestoreResult,
  restoreAnswer,
  restoreBody,
  restoreOptions,
} from './restore-request.ts';

const CALL_DEADLINE_MS = 6 * 3_600_000;

export function registerRestoreRoutes(host: Host, jobs: SymlinkJobs, places: Places): void {
  const orderOf = (body: z.output<typeof restoreBody>) => {
    const options = restoreOptions(body, places);
    const processName = options.process_name ?? options.manifest_path;
    return { operation: 'symlink_manifest_restore' as const, processName, options };
  };
  host.route({
    method: 'POST',
    path: '/process/symlink-manifest/restore',
    summary: 'Makes the links of a manifest again, or says what that would do',
    capability: 'symlink_manifest_restore',
    body: restoreBody,
    response: restoreAnswer,
    deadlineMs: CALL_DEADLINE_MS,
    handle: async ({ body, signal }) => (await jobs.call(orderOf(body), signal)) as RestoreResult,
  });
  host.route({
    method: 'POST',
    path: '/process/symlink-manifest/restore-async',
    summary: 'Queues the restore of a manifest as a job',
    capability: 'symlink_manifest_restore_async',
    body: restoreBody,
    response: startedJob,
    handle: ({ body, signal }) => queueJob(jobs, orderOf(body), signal),
  });
  host.route({
    method: 'GET',
    path: '/process/symlink-manifest/compare',
    summary: 'Says what a restore of a manifest would do, with examples',
    capability: 'symlink_manifest_compare',
    query: compareQuery,
    response: compareAnswer,
    deadlineMs: CALL_DEADLINE_MS,
    handle: async ({ query, signal }) => {
      const input = {
        manifestPath: manifestPathOf(query.manifest_path, places),
        dryRun: true,
        overwrites: query.overwrite_existing,
        restoreBroken: query.restore_broken,
        sampleLimit: query.sample_limit,
        mountsDown: await mountsDown(host),
      };
      return (await jobs.readTask('compare', input, signal)) as CompareResult;
    },
  });
}
