// The schemas of sources and runtimes, and of their answers.
import { z } from 'zod';
import type { PointOptions } from '#core';
import { functionSchema } from '#kit/function-schema';

/** Enough for a large release on a slow line, and for the build of a large program on a small machine. */
const DEADLINE_MS = 7_200_000;

/** A version, restricted because it is shown, compared and written to files. */
const version = z.string().regex(/^[\w][\w.+~:/@-]{0,199}$/);

export const sourcePoint: PointOptions = {
  schema: z.looseObject({
    source: z.string(),
    latest: functionSchema,
    fetch: functionSchema,
    place: functionSchema.optional(),
  }),
  answers: {
    latest: z.looseObject({
      version,
      notesUrl: z.url({ protocol: /^https?$/ }).nullable(),
      releasesBehind: z.int().min(0).nullable(),
    }),
    fetch: z.looseObject({ version, files: z.record(z.string(), z.string()).optional() }),
  },
  deadlineMs: DEADLINE_MS,
  mayFail: true,
};

export const runtimePoint: PointOptions = {
  schema: z.looseObject({ platform: z.string(), check: functionSchema, build: functionSchema }),
  deadlineMs: DEADLINE_MS,
  mayFail: true,
};
