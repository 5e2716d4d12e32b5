// The schema of other stores of the history.
import { z } from 'zod';
import type { PointOptions } from '#core';
import { functionSchema } from '#kit/function-schema';

/** A read is answered from the own file when the other store is later. */
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
