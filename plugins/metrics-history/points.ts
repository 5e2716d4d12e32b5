// The schema of other stores of the history.
import { z } from 'zod';
import type { PointOptions } from '#core';
import { functionSchema } from '#kit/function-schema';

/** How long the other store may take for a read, which the own file answers afterwards. */
const READ_DEADLINE_MS = 10_000;

export const storePoint: PointOptions = {
  schema: z.looseObject({
    holds: functionSchema,
    written: functionSchema,
    importing: functionSchema,
    localAgeDays: functionSchema,
    status: functionSchema,
    bounds: functionSchema,
    lastOfBuckets: functionSchema,
    ranges: functionSchema,
    newestOf: functionSchema,
    page: functionSchema,
  }),
  deadlineMs: READ_DEADLINE_MS,
  mayFail: true,
};
