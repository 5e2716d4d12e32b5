// What folders of services may add to onboarding, as it is checked when they do.
import { z } from 'zod';
import type { PointOptions } from '#core';
import { functionSchema } from '#kit/function-schema';

const block = z.record(z.string(), z.unknown());

export const componentPoint: PointOptions = {
  schema: z.looseObject({ configKey: z.string(), attach: functionSchema }),
  answers: { attach: z.looseObject({ values: block, excludes: functionSchema.optional() }) },
};

export const prerequisitePoint: PointOptions = {
  schema: z.looseObject({ configKey: z.string(), isUsedBy: functionSchema, serve: functionSchema }),
  answers: { isUsedBy: z.boolean(), serve: block },
};
