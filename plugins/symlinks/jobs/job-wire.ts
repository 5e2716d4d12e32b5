// The wire form of jobs.
import { z } from 'zod';
import type { SymlinkJob } from './symlink-job.ts';
import type { JobOrder, SymlinkJobs } from './symlink-jobs.ts';

const MS_PER_S = 1_000;
const STATUSES = { queued: 'queued', running: 'running', succeeded: 'completed' } as const;

const unixSeconds = z.int();

export const startedJob = z.lazy(() =>
  z.object({ status: z.literal('queued'), job_id: z.string(), operation: z.string() }),
);

export const jobSchema = z.lazy(() =>
  z.looseObject({
    job_id: z.string(),
    process_name: z.string(),
    operation: z.string(),
    status: z.enum(['queued', 'running', 'completed', 'error']),
    created_at: unixSeconds,
    updated_at: unixSeconds,
    started_at: unixSeconds.optional(),
    finished_at: unixSeconds.optional(),
    metadata: z.record(z.string(), z.unknown()),
    progress: z.record(z.string(), z.unknown()).nullable(),
    result: z.record(z.string(), z.unknown()).nullable(),
    error: z.object({ message: z.string(), code: z.string() }).nullable(),
  }),
);

/** Checks an order and queues it as a job. Rejects with a Problem when the order could not begin. */
export async function queueJob(
  jobs: SymlinkJobs,
  order: JobOrder,
  signal: AbortSignal,
): Promise<z.output<typeof startedJob>> {
  await jobs.check(order, signal);
  const { id } = await jobs.start(order, 'job');
  return { status: 'queued', job_id: id, operation: order.operation };
}

export async function shownJob(job: SymlinkJob, jobs: SymlinkJobs): Promise<z.output<typeof jobSchema>> {
  const { id, input, state } = job;
  const status = state === 'queued' || state === 'running' || state === 'succeeded' ? STATUSES[state] : 'error';
  const progress = (job.progress?.details ?? null) as Record<string, unknown> | null;
  return {
    job_id: id,
    process_name: input.processName,
    operation: input.operation,
    status,
    created_at: seconds(job.queuedAt),
    updated_at: seconds(job.updatedAt),
    ...(job.startedAt !== null && { started_at: seconds(job.startedAt) }),
    ...(job.endedAt !== null && { finished_at: seconds(job.endedAt) }),
    metadata: input.options,
    progress: status === 'completed' && progress !== null ? { ...progress, stage: 'completed' } : progress,
    result: status === 'completed' ? ((await jobs.result(id)) as Record<string, unknown> | null) : null,
    error: status === 'error' ? { message: messageOf(job, jobs), code: job.error?.code ?? 'failed' } : null,
  };
}

/** The message of a failed job. For one that ended early it also says how far the job came, and what undoes it. */
function messageOf(job: SymlinkJob, jobs: SymlinkJobs): string {
  const message = job.error?.message ?? 'It failed.';
  const isCutOff = job.state === 'interrupted';
  if (job.startedAt === null) return isCutOff ? `${message}; nothing was done yet` : message;
  const progress = (job.progress?.details ?? {}) as Readonly<Record<string, number | null | undefined>>;
  const { processed_items: done = 0, total_items: total = null, changed = 0, moved = 0, copied = 0 } = progress;
  const of = total === null ? '' : ` of ${total}`;
  const far = isCutOff ? `; at least ${done}${of} items were processed` : '';
  const journal = jobs.journal(job);
  const hasChanged = (changed ?? 0) + (moved ?? 0) + (copied ?? 0) > 0;
  // After a sudden end the job may have changed more than its last progress says.
  if (journal === undefined || !(isCutOff || hasChanged)) return `${message}${far}`;
  return `${message}${far}. What was changed is undone by ${journal}${hasChanged ? '' : ', if anything was'}`;
}

function seconds(ms: number): number {
  return Math.floor(ms / MS_PER_S);
}
