// The schemas of contributions to the assistant: providers, native collectors, presets and sources of evidence.
import { z } from 'zod';
import type { PointOptions } from '#core';
import { functionSchema } from '#kit/function-schema';
import { jsonObject } from '#kit/json-data';

/** Longer than the deadline of the call itself, which is 300 s at most. */
const PROVIDER_DEADLINE_MS = 330_000;
/** Longer than the deadline of a source, which is 60 s at most. */
const EVIDENCE_DEADLINE_MS = 65_000;
const NATIVE_DEADLINE_MS = 15_000;
/** The patterns whose word a line has are kept as bits of one number. */
const MAX_PATTERNS = 30;

const name = z.string().regex(/^[a-z][a-z0-9_]{1,31}$/);

const descriptorSchema = z.looseObject({
  value: name,
  aliases: z.array(name).optional(),
  tokens: z.array(name).optional(),
  label: z.string().min(1),
  promptBudgetChars: z.int().min(4_000),
  locality: z.enum(['local', 'external', 'mixed']),
  endpoint: z.discriminatedUnion('mode', [
    z.looseObject({
      mode: z.literal('managed'),
      url: z.url({ protocol: /^https$/ }),
      apiBase: z.url({ protocol: /^https$/ }).optional(),
    }),
    z.looseObject({
      mode: z.literal('custom'),
      defaultUrl: z.url().optional(),
      normalize: functionSchema.optional(),
    }),
  ]),
  key: z.enum(['required', 'optional', 'none']),
  temperature: z.boolean(),
  optionsSchema: z.record(z.string(), z.unknown()).optional(),
  capabilities: z.record(z.string().regex(/^ai_[a-z0-9_]{1,60}$/), z.boolean()).optional(),
  models: z
    .looseObject({
      sourceUrl: z.url(),
      lifecycle: z.array(z.looseObject({ model: z.string(), shutdown_date: z.iso.date(), replacement: z.string() })),
    })
    .optional(),
  compatibility: functionSchema.optional(),
});

export const providerPoint: PointOptions = {
  schema: z.looseObject({ descriptor: descriptorSchema, create: functionSchema }),
  answers: {
    create: z.looseObject({
      chat: functionSchema,
      listModels: functionSchema.optional(),
      mapUsage: functionSchema.optional(),
    }),
    'descriptor.compatibility': z
      .looseObject({
        status: z.enum(['supported', 'unsupported', 'unknown']),
        api_surface: z.string(),
        reason: z.string(),
      })
      .nullish(),
    'descriptor.endpoint.normalize': z.instanceof(URL),
  },
  immediate: ['create', 'descriptor.compatibility', 'descriptor.endpoint.normalize'],
  deadlineMs: PROVIDER_DEADLINE_MS,
  mayFail: true,
};

export const nativePoint: PointOptions = {
  schema: z.looseObject({
    configKey: z.string().min(1),
    lines: z
      .array(z.looseObject({ word: z.string().regex(/^[ -@[-~]{3,}$/), pattern: z.instanceof(RegExp) }))
      .max(MAX_PATTERNS)
      .optional(),
    collect: functionSchema,
  }),
  answers: { collect: jsonObject },
  deadlineMs: NATIVE_DEADLINE_MS,
  mayFail: true,
};

export const presetPoint: PointOptions = {
  schema: z.looseObject({
    scope: z.enum(['service', 'stack']),
    label: z.string().min(1).max(80),
    question: z.string().min(1).max(8_000),
  }),
};

const coverage = z.record(z.string(), z.union([z.literal(false), z.literal(0)])).optional();

export const evidencePoint: PointOptions = {
  schema: z.looseObject({
    coverage: z.object({ service: coverage, stack: coverage }),
    switches: z.array(z.string()).optional(),
    stage: z.int().optional(),
    deadlineMs: z.int().min(1).max(60_000).optional(),
    collect: functionSchema,
  }),
  answers: {
    collect: z
      .looseObject({
        members: jsonObject,
        coverage: z.record(z.string(), z.union([z.boolean(), z.number()])).optional(),
        recommendations: z
          .array(
            z.looseObject({
              id: z.string(),
              title: z.string(),
              risk: z.enum(['low', 'medium']),
              action: z.enum(['review', 'observe']),
              reason: z.string(),
            }),
          )
          .optional(),
      })
      .optional(),
  },
  deadlineMs: EVIDENCE_DEADLINE_MS,
  mayFail: true,
};
