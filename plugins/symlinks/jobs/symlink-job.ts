// What a job with links is asked to do, as it is recorded.
import { z } from 'zod';
import type { Job } from '#core';

export const jobInput = z.object({
  operation: z.string(),
  /** Under which it is filed. */
  processName: z.string(),
  /** `request`: whoever asked waits for the result. */
  trigger: z.enum(['request', 'job', 'schedule']),
  options: z.record(z.string(), z.unknown()),
});

export type JobInput = z.output<typeof jobInput>;

export type SymlinkJob = Job<JobInput>;
