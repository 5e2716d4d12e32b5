// The schema of what other plugins contribute to samples.
import { z } from 'zod';
import type { PointOptions } from '#core';
import { functionSchema } from '#kit/function-schema';
import { jsonData } from '#kit/json-data';

/** How long a sample waits for the members that plugins add to it. */
const COLLECT_DEADLINE_MS = 1_000;
/** How long a new client waits for its first frame; shorter than the host's deadline for opening a stream. */
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
