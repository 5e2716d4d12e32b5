// Schemas of what other plugins contribute to onboarding.
import { z } from 'zod';
import type { PointOptions } from '#core';
import { functionSchema } from '#kit/function-schema';

const block = z.record(z.string(), z.unknown());

export const componentPoint: PointOptions = {
  schema: z.looseObject({ configKey: z.string(), attach: functionSchema }),
  answers: { attach: z.looseObject({ values: block, excludes: functionSchema.optional() }) },
  immediate: ['attach'],
};

export const prerequisitePoint: PointOptions = {
  schema: z.looseObject({ configKey: z.string(), isUsedBy: functionSchema, serve: functionSchema }),
  answers: { isUsedBy: z.boolean(), serve: block },
  immediate: ['isUsedBy', 'serve'],
};
