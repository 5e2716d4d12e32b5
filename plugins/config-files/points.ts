// The point at which formats of files are contributed, and what each must hold.
import { z } from 'zod';
import type { PointOptions } from '#core';
import { functionSchema } from '#kit/function-schema';

const values = z.record(z.string(), z.unknown());

export const formatPoint: PointOptions = {
  // A large text may wait for the thread that reads it.
  deadlineMs: 60_000,
  schema: z.looseObject({
    name: z.string(),
    extensions: z.array(z.string()),
    matches: functionSchema.optional(),
    parse: functionSchema,
    edit: functionSchema,
    readBack: functionSchema.optional(),
    readUpdate: functionSchema,
  }),
  answers: {
    matches: z.boolean(),
    parse: values,
    edit: z.looseObject({ text: z.string(), changed: z.number() }),
    readBack: values,
    readUpdate: z.union([
      z.looseObject({ kind: z.literal('values'), values }),
      z.looseObject({ kind: z.literal('file'), text: z.string() }),
    ]),
  },
  immediate: ['matches'],
};
