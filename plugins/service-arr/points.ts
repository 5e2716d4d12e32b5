// Schemas of what other plugins contribute for media managers.
import { z } from 'zod';
import type { PointOptions } from '#core';
import { functionSchema } from '#kit/function-schema';

const DEADLINE_MS = 60_000;

export const consumerPoint: PointOptions = {
  schema: z.looseObject({ configKey: z.string(), managers: functionSchema }),
  answers: { managers: z.array(z.looseObject({ address: z.string(), apiKey: z.string() })) },
  deadlineMs: DEADLINE_MS,
  mayFail: true,
};

export const downloadServicePoint: PointOptions = {
  schema: z.looseObject({
    configKey: z.string(),
    libraryFolder: z.string().optional(),
    takesTorrents: z.boolean().optional(),
    clients: functionSchema,
  }),
  answers: { clients: z.array(z.looseObject({ name: z.string(), implementation: z.string() })) },
  deadlineMs: DEADLINE_MS,
  mayFail: true,
};

export const indexerPoint: PointOptions = {
  schema: z.looseObject({ configKey: z.string(), entry: functionSchema }),
  answers: { entry: z.looseObject({ name: z.string(), implementation: z.string() }) },
  immediate: ['entry'],
};
