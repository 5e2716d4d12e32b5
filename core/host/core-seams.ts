// The hooks and points that the host itself owns.
import { z } from 'zod';
import type { Hooks } from '../contract/plugin.ts';
import { functionSchema } from '../kit/function-schema.ts';
import { jsonObject } from '../kit/json-data.ts';
import type { ContributionRegistry } from './contributions.ts';
import type { HookRegistry } from './hooks.ts';
import type { Scope } from './scope.ts';

/** How long the host waits for taps when it stops. */
const STOPPING_DEADLINE_MS = 5_000;

/** Long enough to check the program of every service. */
const REVIEW_DEADLINE_MS = 30_000;

export type CoreHooks = ReturnType<typeof declareCoreHooks>;

export function declareCoreHooks(hooks: HookRegistry) {
  const declare = <Name extends keyof Hooks>(
    name: Name,
    kind: 'series' | 'parallel',
    options: { guarded?: boolean; deadlineMs?: number } = {},
  ) => hooks.declare(undefined, name, kind, options).hook as unknown as Hooks[Name];
  return {
    // Unguarded, because a tap vetoes an update by throwing.
    check: declare('config.check', 'series', { guarded: false }),
    changed: declare('config.changed', 'parallel'),
    review: declare('config.review', 'series', { deadlineMs: REVIEW_DEADLINE_MS }),
    ready: declare('host.ready', 'parallel'),
    stopping: declare('host.stopping', 'parallel', { deadlineMs: STOPPING_DEADLINE_MS }),
    hangup: declare('host.hangup', 'parallel'),
    forced: declare('host.forced', 'parallel', { deadlineMs: STOPPING_DEADLINE_MS }),
  };
}

const path = z.array(z.string()).min(1);
const zodSchema = z.custom<z.ZodType>(
  value => value instanceof z.ZodType,
  'it needs a schema of the zod that is given',
);

export function declareCorePoints(
  contributions: ContributionRegistry,
  refused: (scope: Scope, error: Error) => void,
): void {
  const declare = (name: string, schema: z.ZodType, answers: Record<string, z.ZodType>, mayFail = false): void => {
    contributions.declare(undefined, name, { schema, answers, immediate: Object.keys(answers), mayFail }, refused);
  };
  declare('config.schema', z.looseObject({ path, schema: zodSchema, jsonSchema: functionSchema.optional() }), {
    jsonSchema: jsonObject,
  });
  const appliesTo = z.array(z.string()).optional();
  const marksOnly = z.boolean().optional();
  const block = z.looseObject({ schema: zodSchema, appliesTo, marksOnly, defaults: functionSchema.optional() });
  // With `mayFail`, because the configuration asks for defaults often, and logs a failure itself, once.
  declare('config.block', block, { defaults: z.array(jsonObject) }, true);
  const formerPath = path.optional();
  declare('config.template', z.looseObject({ path, block: functionSchema, formerPath }), { block: jsonObject });
}
