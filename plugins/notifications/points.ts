// The schemas of types of destinations, of messages about events, and of watched conditions.
import { z } from 'zod';
import type { PointOptions } from '#core';
import { functionSchema } from '#kit/function-schema';
import { jsonObject } from '#kit/json-data';
import { SEVERITIES } from './severity.ts';

/** Longer than an attempt, which ends by itself. */
const SEND_DEADLINE_MS = 20_000;
/** A source that has not answered by then is asked again at the next interval. */
const OBSERVE_DEADLINE_MS = 10_000;

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
    order: z.number().optional(),
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
      metadata: jsonObject.optional(),
      conditionKey: z.string().optional(),
      recoveredType: z.string().optional(),
      ignoresCooldown: z.boolean().optional(),
    }),
  },
  immediate: ['isPossible', 'describe'],
};

export const conditionPoint: PointOptions = {
  schema: z.looseObject({ isPossible: functionSchema.optional(), observe: functionSchema, tell: functionSchema }),
  answers: {
    isPossible: z.boolean(),
    observe: z
      .array(
        z.object({
          key: z.string(),
          type: z.string(),
          isTrue: z.boolean().nullable(),
          title: z.string(),
          body: z.string(),
          overTitle: z.string(),
          value: z.union([z.number(), z.string()]).nullable(),
          serviceName: z.string().optional(),
          isCritical: z.boolean(),
        }),
      )
      .nullable(),
  },
  immediate: ['isPossible', 'tell'],
  deadlineMs: OBSERVE_DEADLINE_MS,
};
