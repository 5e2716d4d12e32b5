// Schemas of what other plugins contribute to process control: members of answers, policies and the order of starts.
import { z } from 'zod';
import type { PointOptions } from '#core';
import { functionSchema } from '#kit/function-schema';
import { jsonObject } from '#kit/json-data';

export const stopPolicyPoint: PointOptions = {
  schema: z.looseObject({
    configKey: z.string(),
    signal: z.enum(['SIGTERM', 'SIGINT', 'SIGQUIT']).optional(),
    graceMs: z.number().min(0).optional(),
    tier: z.number().optional(),
    answersFirst: z.boolean().optional(),
  }),
};

export const ownPortsPoint: PointOptions = {
  schema: z.looseObject({ members: z.array(z.array(z.string()).min(1)) }),
};

export const launchPolicyPoint: PointOptions = {
  schema: z.looseObject({
    configKey: z.string(),
    asController: functionSchema.optional(),
    bootsFirst: z.boolean().optional(),
  }),
  answers: { asController: z.union([z.literal(true), z.string()]) },
  immediate: ['asController'],
};

export const placeholdersPoint: PointOptions = {
  schema: z.looseObject({ values: functionSchema }),
  answers: { values: z.record(z.string(), z.unknown()) },
  immediate: ['values'],
};

/**
 * A search reads files that may be on a slow disk. A Problem that it throws is an answer: the process must not be
 * started.
 */
export const survivorPoint: PointOptions = {
  schema: z.looseObject({ configKey: z.string(), find: functionSchema }),
  answers: { find: z.looseObject({ pid: z.number().int() }).nullable() },
  deadlineMs: 30_000,
  mayFail: true,
};

/** Recognizes schemas by their methods instead of `instanceof`, because a plugin may bring its own copy of zod. */
const objectSchema = z.looseObject({ partial: functionSchema, shape: z.looseObject({}) });

/** Answers are requested often, so the caller reports each fault only once. */
export const entryPoint: PointOptions = {
  schema: z.looseObject({
    schema: objectSchema.optional(),
    members: functionSchema,
    revision: functionSchema.optional(),
  }),
  answers: { members: jsonObject },
  immediate: ['members', 'revision'],
  mayFail: true,
};

export const detailPoint: PointOptions = {
  schema: z.looseObject({ schema: objectSchema.optional(), members: functionSchema }),
  answers: { members: jsonObject },
  deadlineMs: 3_000,
  mayFail: true,
};

const names = z.array(z.string());

export const dependenciesPoint: PointOptions = {
  schema: z.looseObject({ startOrder: functionSchema }),
  answers: {
    startOrder: z.looseObject({ needs: z.map(z.string(), z.set(z.string())), cycles: z.array(names) }),
  },
};

/** Checks a plan after the taps of `process.prepare`, because it is launched as they leave it. */
export const launchPlanSchema = z.looseObject({
  argv: z.array(z.string()),
  cwd: z.string().optional(),
  env: z.record(z.string(), z.string()),
  user: z.object({ uid: z.number(), gid: z.number() }).nullable(),
  waits: z.object({ mounts: names, urls: z.array(z.union([z.string(), z.looseObject({ url: z.string() })])) }),
});
