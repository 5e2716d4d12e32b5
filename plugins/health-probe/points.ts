// The schema of contributed probes, and of what their functions return.
import { z } from 'zod';
import type { PointOptions } from '#core';
import { functionSchema } from '#kit/function-schema';

const health = z.looseObject({
  status: z.enum(['healthy', 'degraded', 'starting', 'unhealthy']).nullable(),
  healthy: z.boolean().nullable(),
  reason: z.string().nullable(),
  details: z.record(z.string(), z.unknown()).nullable(),
});

const httpProbe = z.looseObject({
  configKey: z.string(),
  path: z.string(),
  portKey: z.string().optional(),
  marker: z.string().optional(),
  jsonKey: z.string().optional(),
});

export const probePoint: PointOptions = {
  schema: z.union([
    z.looseObject({ configKey: z.string(), check: functionSchema }),
    z.looseObject({ blockKey: z.string(), check: functionSchema }),
    httpProbe,
  ]),
  answers: { check: health.optional() },
  deadlineMs: 15_000,
};
