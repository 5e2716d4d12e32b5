// Reads query strings as browsers and axios write them.
import { z } from 'zod';
import { Problem } from '../contract/problem.ts';
import { FORBIDDEN_KEYS } from '../kit/plain-data.ts';

type Query = Record<string, string | string[]>;

/** The names of the members that are lists, by schema; determined when a name is repeated for the first time. */
const lists = new WeakMap<z.ZodType, ReadonlySet<string>>();

/**
 * The values by name, as the schema expects them. A name that is repeated, or written `name[]=` or `name[0]=`, gives a
 * list if the schema wants one, otherwise its last value. `+` is a space. Only a `queryList` splits values at commas,
 * because any other value may contain one. Throws a Problem 400 for a name that would reach a prototype.
 */
export function parseQuery(text: string, schema: z.ZodType): Query {
  const query: Query = Object.create(null);
  if (text === '') return query;
  for (const [rawName, value] of new URLSearchParams(text)) {
    const name = rawName.replace(/\[\d*\]$/, '');
    if (FORBIDDEN_KEYS.has(name)) throw new Problem(400, `The query parameter '${name}' is not allowed`);
    const present = query[name];
    if (present === undefined && name === rawName) query[name] = value;
    else if (!listsOf(schema).has(name)) query[name] = value;
    else if (Array.isArray(present)) present.push(value);
    else query[name] = present === undefined ? [value] : [present, value];
  }
  return query;
}

/** The query of a stream, in which the last value of a repeated name counts. */
export function lastValues(text: string): URLSearchParams {
  return new URLSearchParams(Object.fromEntries(new URLSearchParams(text)));
}

function listsOf(schema: z.ZodType): ReadonlySet<string> {
  let names = lists.get(schema);
  if (names === undefined) {
    const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    names = new Set(Object.keys(properties).filter(name => isList(properties[name])));
    lists.set(schema, names);
  }
  return names;
}

function isList(member: z.core.JSONSchema._JSONSchema | undefined): boolean {
  if (typeof member !== 'object') return false;
  return member.type === 'array' || (member.anyOf ?? []).some(isList);
}
