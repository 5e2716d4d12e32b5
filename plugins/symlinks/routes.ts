// The routes of the repair and of jobs.
import { z } from 'zod';
import { type ContributionList, type Host, Problem } from '#core';
import { queryBoolean } from '#kit/query-values';
import type { SymlinkPreset } from './contract.ts';
import { jobSchema, queueJob, shownJob, startedJob } from './jobs/job-wire.ts';
import type { SymlinkJobs } from './jobs/symlink-jobs.ts';
import type { Places } from './places/path-rules.ts';
import { repairBody, repairOptions } from './repair/repair-request.ts';
import { repairAnswer } from './repair/repair-wire.ts';

/** Long, because libraries on slow mounts take hours; clients that do not want to wait use jobs. */
const CALL_DEADLINE_MS = 6 * 3_600_000;
const UNNAMED = 'symlink-repair';

export interface RouteParts {
  readonly jobs: SymlinkJobs;
  readonly presets: ContributionList<SymlinkPreset>;
  readonly places: Places;
}

export function registerRoutes(host: Host, { jobs, presets, places }: RouteParts): void {
  const orderOf = (body: z.output<typeof repairBody>) => {
    const options = repairOptions(body, presets, places);
    return { operation: 'symlink_repair' as const, processName: options.process_name ?? UNNAMED, options };
  };
  host.route({
    method: 'POST',
    path: '/process/symlink-repair',
    summary: 'Rewrites the targets of links and moves links between roots, or says what that would do',
    capability: 'symlink_repair',
    body: repairBody,
    response: repairAnswer,
    deadlineMs: CALL_DEADLINE_MS,
    handle: async ({ body, signal }) => (await jobs.call(orderOf(body), signal)) as z.input<typeof repairAnswer>,
  });
  host.route({
    method: 'POST',
    path: '/process/symlink-repair-async',
    summary: 'Queues a repair of links as a job',
    capability: 'symlink_repair_async',
    body: repairBody,
    response: startedJob,
    handle: ({ body, signal }) => queueJob(jobs, orderOf(body), signal),
  });
  host.route({
    method: 'GET',
    path: '/process/symlink-job-status',
    summary: 'Tells how a job with links gets on',
    capability: 'symlink_job_status',
    query: z.object({ job_id: z.string() }),
    response: jobSchema,
    handle: ({ query }) => {
      const id = query.job_id.trim();
      if (id === '') throw new Problem(400, 'job_id is blank; give the id of a job.');
      const job = jobs.get(id);
      if (job === undefined)
        throw new Problem(404, `There is no symlink job ${id}; finished ones are kept for 30 days.`);
      return shownJob(job, jobs);
    },
  });
  host.route({
    method: 'GET',
    path: '/process/symlink-job-latest',
    summary: 'Gives the newest job with links of a process',
    capability: 'symlink_job_latest',
    query: z.object({
      process_name: z.string(),
      operation: z.string().default('symlink_manifest_backup'),
      active_only: queryBoolean().default(true),
    }),
    response: z.object({ job: jobSchema.nullable() }),
    handle: async ({ query }) => {
      if (query.process_name.trim() === '') throw new Problem(400, 'process_name is blank; name a process.');
      const job = jobs.latest(query.process_name, query.operation.trim(), query.active_only);
      return { job: job === undefined ? null : await shownJob(job, jobs) };
    },
  });
}
