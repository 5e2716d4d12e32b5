// Limits inputs, results and other data of jobs to JSON of a bounded size.
import { z } from 'zod';
import { Problem } from '../contract/problem.ts';

export const MAX_JSON_BYTES = 64 * 1024;
/** What JSON cannot hold, by zod's word for it, with what can be taken instead. */
const NO_JSON: ReadonlyMap<string, string> = new Map([
  ['date', 'z.iso.datetime(), or z.number() with milliseconds'],
  ['bigint', 'z.string()'],
  ['map', 'z.record()'],
  ['set', 'z.array()'],
  ['symbol', 'z.enum()'],
  ['file', 'z.string() with its path'],
]);

/** The value as JSON; undefined becomes null. Throws an Error when it cannot be written as JSON or is too large. */
export function jsonOf(value: unknown, maxBytes: number, what: string): string {
  const text: string | undefined = JSON.stringify(value ?? null);
  if (text === undefined) throw new Error(`${what} is no JSON`);
  if (Buffer.byteLength(text) > maxBytes) throw new Error(`${what} is larger than ${maxBytes} bytes`);
  return text;
}

/** Throws an Error for a schema whose output JSON would change: the work would get something else than its type says. */
export function requireJsonInput(schema: z.ZodType, kind: string): void {
  for (const type of typesIn(schema)) {
    const instead = NO_JSON.get(type);
    if (instead !== undefined)
      throw new Error(`the input of the jobs of ${kind} has a ${type}, which JSON cannot hold; take ${instead}`);
  }
}

/** zod's words for everything that an output of the schema consists of; none of a schema that zod cannot describe. */
function typesIn(schema: z.ZodType): ReadonlySet<string> {
  const types = new Set<string>();
  const override = ({ zodSchema }: { zodSchema: z.core.$ZodTypes }): void => void types.add(zodSchema._zod.def.type);
  try {
    z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any', override });
  } catch {
    return new Set();
  }
  return types;
}

/** Parses the input by its schema. Throws a Problem 422 when it does not fit, 413 when it is too large. */
export function parseInput(schema: z.ZodType | undefined, input: unknown, kind: string): unknown {
  const parsed = schema === undefined ? { success: true as const, data: input } : schema.safeParse(input);
  if (!parsed.success) {
    const errors = parsed.error.issues.map(({ path, message, code }) => ({ loc: path, msg: message, type: code }));
    const detail = `The input of ${kind} does not fit: ${issuesText(parsed.error)}`;
    throw new Problem(422, detail, { extra: { errors } });
  }
  try {
    return JSON.parse(jsonOf(parsed.data, MAX_JSON_BYTES, `The input of ${kind}`));
  } catch (error) {
    const what = (error as Error).message;
    throw new Problem(413, `${what}; give less at once, such as in several requests`, { cause: error });
  }
}

/**
 * The input that an earlier version of the plugin has parsed and stored, with the defaults of members that are new.
 * Throws a Problem when it does not fit the present schema.
 */
export function storedInput(schema: z.ZodType | undefined, stored: unknown): unknown {
  if (schema === undefined || isOutputOf(schema, stored)) return stored;
  // No input at all is stored as null.
  const parsed = schema.safeParse(stored ?? undefined);
  if (parsed.success) return parsed.data ?? null;
  throw new Problem(409, `its stored input does not fit this version: ${issuesText(parsed.error)}; start it again`);
}

/** True also for a schema that changes what it parses in a way that has no reverse, because that cannot be told. */
function isOutputOf(schema: z.ZodType, value: unknown): boolean {
  try {
    return schema.safeEncode(value).success;
  } catch {
    return true;
  }
}

function issuesText({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => [...path.map(String), message].join(': ')).join('; ');
}
