// The schemas of types of destinations, and of how events are told.
import { z } from 'zod';
import type { PointOptions } from '#core';
import { functionSchema } from '#kit/function-schema';
import { SEVERITIES } from './severity.ts';

/** An attempt ends earlier by itself. */
const SEND_DEADLINE_MS = 20_000;

const size = z.int().min(16).optional();

export const destinationPoint: PointOptions = {
  schema: z.looseObject({
    schemes: z.array(z.string().regex(/^[a-z][a-z0-9+.-]{0,31}$/)).min(1),
    example: z.string().min(1),
    limits: z
      .object({ title: size, body: size, text: size, total: size, unit: z.enum(['characters', 'bytes']).optional() })
      .optional(),
    escapes: z.union([z.literal('markdown'), z.record(z.string(), z.string())]).optional(),
    native: functionSchema.optional(),
    parse: functionSchema,
    send: functionSchema,
  }),
  answers: {
    native: z.boolean(),
    send: z.union([
      z.object({ ok: z.literal(true) }),
      z.object({ ok: z.literal(false), error: z.string(), retryAfterSec: z.number().optional() }),
    ]),
  },
  immediate: ['native', 'parse'],
  deadlineMs: SEND_DEADLINE_MS,
  mayFail: true,
};

export const eventPoint: PointOptions = {
  schema: z.looseObject({
    severity: z.enum(SEVERITIES),
    duringStartup: z.boolean().optional(),
    isPossible: functionSchema.optional(),
    describe: functionSchema,
  }),
  answers: {
    isPossible: z.boolean(),
    describe: z.looseObject({
      title: z.string(),
      body: z.string(),
      serviceName: z.string().optional(),
      metadata: z.record(z.string(), z.unknown()).optional(),
      conditionKey: z.string().optional(),
      recoveredType: z.string().optional(),
      ignoresCooldown: z.boolean().optional(),
    }),
  },
  immediate: ['isPossible', 'describe'],
};
