// The schemas of what other plugins contribute to the health of databases.
import { z } from 'zod';
import type { PointOptions } from '#core';
import { functionSchema } from '#kit/function-schema';

/** Longer than requests wait, because programs start slowly on a busy machine. */
const PROBE_DEADLINE_MS = 60_000;
const STORES_DEADLINE_MS = 2_000;

const mode = z.enum(['standard', 'enhanced']);
const number = z.number().optional();
const text = z.string().optional();

const factsSchema = z.looseObject({
  role: z.string(),
  exists: z.boolean().nullable(),
  name: text,
  path: text,
  error: text,
  notice: text,
  probeError: text,
  probeMs: number,
  sizeBytes: number,
  walSizeBytes: number,
  lockWaiters: number,
  deadlocksDelta: number,
  oldestTransactionSeconds: number,
  storage: z
    .looseObject({
      mountPoint: z.string(),
      network: z.boolean(),
      readOnly: z.boolean(),
      usedPercent: z.number().nullable(),
      inodeUsedPercent: z.number().nullable(),
    })
    .optional(),
});

const storesSchema = z.array(
  z.object({
    engine: z.string(),
    role: z.string(),
    files: z.array(z.string()).optional(),
    below: text,
    name: text,
    connection: z.record(z.string(), z.string()).optional(),
    passive: z.boolean().optional(),
  }),
);

export const probePoint: PointOptions = {
  schema: z.looseObject({ provider: z.string().min(1), blindIn: z.array(mode).optional(), probe: functionSchema }),
  answers: { probe: z.array(factsSchema) },
  deadlineMs: PROBE_DEADLINE_MS,
};

export const storesPoint: PointOptions = {
  schema: z.looseObject({ configKey: z.string(), stores: functionSchema }),
  answers: { stores: storesSchema.optional() },
  deadlineMs: STORES_DEADLINE_MS,
};
