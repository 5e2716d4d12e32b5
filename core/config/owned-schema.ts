// Asks the schema of a plugin on behalf of that plugin: a schema that fails affects only the place that it describes,
// never the configuration.
import type { z } from 'zod';
import type { ConfigObject } from '../contract/config.ts';
import type { Owner } from '../kit/owner.ts';
import { isObject } from '../kit/plain-object.ts';
import { shapeIssues } from '../kit/shape-issues.ts';
import { toJsonSchema } from './json-schema.ts';
import type { ConfigPath } from './layers.ts';

export interface SchemaIssue {
  readonly path: ConfigPath;
  readonly message: string;
  readonly expectsBoolean: boolean;
  /** Whether the schema itself failed, so that it says nothing about the value. */
  readonly isFault: boolean;
}

/** A schema and the plugin that answers for it; undefined for the host's own. */
export interface OwnedSchema {
  readonly schema: z.ZodType;
  readonly owner: Owner | undefined;
}

/**
 * What code of a plugin returns. Undefined where it fails, which counts against that plugin: the configuration is made
 * without the result, because everything else reads the configuration too.
 */
export function given<Value>(owner: Owner | undefined, what: string, ask: () => Value): Value | undefined {
  if (owner === undefined) return ask();
  try {
    return owner.invoke({ place: 'contribution', what, deadlineMs: Number.POSITIVE_INFINITY }, ask);
  } catch {
    return undefined;
  }
}

export function jsonSchemaOf({ schema, owner }: OwnedSchema): ConfigObject {
  return given(owner, 'the JSON Schema of its schema', () => toJsonSchema(schema)) ?? {};
}

/** Objects in which a schema found nothing wrong; a change of the configuration leaves most of its objects the same. */
const fitting = new WeakMap<z.ZodType, WeakSet<object>>();
/** Objects on which a schema failed. */
const failing = new WeakMap<z.ZodType, WeakSet<object>>();

/** What the schema finds wrong with the value at the path. */
export function issuesOf({ schema, owner }: OwnedSchema, value: unknown, path: ConfigPath): SchemaIssue[] {
  const isIn = (known: typeof fitting): boolean => isObject(value) && known.get(schema)?.has(value) === true;
  const keep = (known: typeof fitting): void => {
    if (isObject(value)) known.set(schema, (known.get(schema) ?? new WeakSet()).add(value));
  };
  if (isIn(fitting)) return [];
  const what = `its schema of ${path.join('.')}`;
  const parsed = isIn(failing) ? undefined : given(owner, what, () => schema.safeParse(value));
  if (parsed === undefined) {
    keep(failing);
    const message = `the plugin ${owner?.plugin} cannot check it, because its schema fails`;
    return [{ path, message, expectsBoolean: false, isFault: true }];
  }
  if (parsed.success) {
    keep(fitting);
    return [];
  }
  return shapeIssues(parsed.error).map(issue => ({
    path: [...path, ...issue.path.map(String)],
    message: issue.message,
    expectsBoolean: expectsBoolean(issue),
    isFault: false,
  }));
}

function expectsBoolean(issue: z.core.$ZodIssue): boolean {
  if (issue.code === 'invalid_type') return issue.expected === 'boolean';
  if (issue.code !== 'invalid_union') return false;
  return issue.errors.flat().some(inner => inner.path.length === 0 && expectsBoolean(inner));
}
