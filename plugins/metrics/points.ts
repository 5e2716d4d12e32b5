// The schema of what other plugins contribute to samples.
import { z } from 'zod';
import type { PointOptions } from '#core';
import { functionSchema } from '#kit/function-schema';
import { jsonData } from '#kit/json-data';

/** A sample waits no longer for what a plugin adds to it. */
const COLLECT_DEADLINE_MS = 1_000;
/** Below the deadline of a stream that opens. */
const INTRODUCTION_DEADLINE_MS = 8_000;

export const collectorPoint: PointOptions = {
  schema: z.looseObject({
    place: z.enum(['sample', 'system', 'managed']),
    collect: functionSchema,
    kept: functionSchema.optional(),
  }),
  answers: { collect: jsonData, kept: jsonData },
  deadlineMs: COLLECT_DEADLINE_MS,
};

export const introductionPoint: PointOptions = {
  schema: z.looseObject({ members: functionSchema }),
  answers: { members: z.string() },
  deadlineMs: INTRODUCTION_DEADLINE_MS,
};
