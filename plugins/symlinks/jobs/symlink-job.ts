// The input of a symlink job, as it is recorded.
import { z } from 'zod';
import type { Job } from '#core';

export const jobInput = z.object({
  operation: z.string(),
  /** The name under which the job is filed. */
  processName: z.string(),
  /** `request` means that a client waits for the result. */
  trigger: z.enum(['request', 'job', 'schedule']),
  options: z.record(z.string(), z.unknown()),
});

export type JobInput = z.output<typeof jobInput>;

export type SymlinkJob = Job<JobInput>;
