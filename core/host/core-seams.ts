// The hooks and points that the host itself owns.
import { z } from 'zod';
import type { Hooks } from '../contract/plugin.ts';
import { functionSchema } from '../kit/function-schema.ts';
import { MAX_NESTING } from '../kit/nesting-limit.ts';
import type { ContributionRegistry } from './contributions.ts';
import type { HookRegistry } from './hooks.ts';
import type { Scope } from './scope.ts';

/** At a stop the host ends after this time, even while taps are still running. */
const STOPPING_DEADLINE_MS = 5_000;

/** Long enough for a look at the program of every service. */
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
const data = z.record(z.string(), z.unknown()).refine(value => isData(value), 'it must hold nothing but what JSON can');

export function declareCorePoints(
  contributions: ContributionRegistry,
  refused: (scope: Scope, error: Error) => void,
): void {
  const declare = (name: string, schema: z.ZodType, answers: Record<string, z.ZodType>, mayFail = false): void => {
    contributions.declare(undefined, name, { schema, answers, immediate: Object.keys(answers), mayFail }, refused);
  };
  declare('config.schema', z.looseObject({ path, schema: zodSchema, jsonSchema: functionSchema.optional() }), {
    jsonSchema: data,
  });
  const appliesTo = z.array(z.string()).optional();
  const marksOnly = z.boolean().optional();
  const block = z.looseObject({ schema: zodSchema, appliesTo, marksOnly, defaults: functionSchema.optional() });
  // The configuration asks for defaults again and again, and tells a failure once.
  declare('config.block', block, { defaults: z.array(data) }, true);
  const formerPath = path.optional();
  declare('config.template', z.looseObject({ path, block: functionSchema, formerPath }), { block: data });
}

/** Whether answers, files and threads can carry the value; a member may be undefined, as one that is not there. */
function isData(value: unknown, depth = 0): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return ['string', 'boolean', 'undefined'].includes(typeof value);
  if (value === null) return true;
  if (depth > MAX_NESTING) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = Array.isArray(value) || prototype === Object.prototype || prototype === null;
  return isPlain && Object.values(value).every(member => isData(member, depth + 1));
}
