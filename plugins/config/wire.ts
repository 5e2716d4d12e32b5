// Wire shapes of the configuration routes.
import { z } from 'zod';
import type { ConfigUpdateResult } from '#core';

export const readQuery = z.object({ process_name: z.string().optional() });

/** Accepts any members, because the configuration's schema is known at run time only. */
export const configAnswer = z.looseObject({}).describe('the configuration, or the block of one service');

/** Accepts any members, because a JSON Schema has many forms. */
export const schemaAnswer = z.looseObject({}).describe('a JSON Schema of draft 7');

export const updateBody = z.lazy(() =>
  z.object({
    process_name: z
      .string()
      .nullable()
      .optional()
      .describe('absent: the update is merged into the whole configuration'),
    updates: z.record(z.string(), z.unknown()),
    persist: z
      .boolean()
      .nullable()
      .optional()
      .describe('default: true for the whole configuration, false for one service'),
  }),
);

export const updateAnswer = z.lazy(() =>
  z.object({
    status: z.literal('updated'),
    process_name: z.string().optional(),
    keys: z.array(z.string()).optional().describe('root keys that the update named'),
    persisted: z.boolean(),
    changed: z.array(z.string()).describe('dotted paths whose effective value changed'),
    overridden: z.array(z.string()).describe('paths that the environment overrides'),
    restart_required: z.array(z.string()).describe('paths that act only after a restart'),
    warnings: z.array(z.string()),
    revision: z.string(),
  }),
);

export const blockSchemaBody = z.object({ process_name: z.string() });

export function resultToWire({
  restartRequired,
  persisted,
  changed,
  overridden,
  warnings,
  revision,
}: ConfigUpdateResult) {
  return { persisted, changed, overridden, restart_required: restartRequired, warnings, revision };
}
