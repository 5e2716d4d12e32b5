// The words for a value that does not fit a schema, where the schema itself has none: they follow the place of the
// value, as in `body.port: it must be a number, not text`.
import type { z } from 'zod';

type Issue = z.core.$ZodRawIssue;

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  nan: 'no number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
  function: 'a function',
};

const FORMATS: Readonly<Record<string, string>> = {
  url: 'a URL',
  email: 'an e-mail address',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  datetime: 'a time such as 2026-01-31T12:00:00Z',
};

/** How deep alternatives within alternatives are looked into. */
const MAX_DEPTH = 5;

export function shapeWords(issue: Issue): string {
  if (issue.input === undefined && MISSING.has(issue.code)) return 'it is missing';
  switch (issue.code) {
    case 'invalid_type':
      return `it must be ${kindName(issue.expected)}${otherKind(issue.expected, issue.input)}`;
    case 'invalid_value':
      return `it must be ${listed(issue.values.map(shown))}`;
    case 'too_small':
      return issue.inclusive === false ? bound(issue, 'more than', issue.minimum) : least(issue);
    case 'too_big':
      return bound(issue, issue.inclusive === false ? 'less than' : 'at most', issue.maximum);
    case 'not_multiple_of':
      return `it must be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return formatWords(issue);
    case 'unrecognized_keys':
      return `${listed(issue.keys.map(shown))} is none of its members`;
    case 'invalid_union':
      return unionWords(issue);
    default:
      return 'it does not fit';
  }
}

/** The kinds of issues that a missing value has. */
const MISSING: ReadonlySet<string> = new Set(['invalid_type', 'invalid_value', 'invalid_union']);

function least(issue: Issue & { readonly code: 'too_small' }): string {
  if (isSized(issue) && Number(issue.minimum) === 1) return 'it must not be empty';
  return bound(issue, 'at least', issue.minimum);
}

function bound(issue: Issue, relation: string, limit: unknown): string {
  const exactly = 'exact' in issue && issue.exact === true ? 'exactly' : relation;
  if (!isSized(issue)) return `it must be ${exactly} ${String(limit)}`;
  const unit = issue.origin === 'string' ? 'character' : 'element';
  return `it must have ${exactly} ${String(limit)} ${unit}${Number(limit) === 1 ? '' : 's'}`;
}

function isSized(issue: Issue): boolean {
  return ['string', 'array', 'set', 'map', 'object', 'record'].includes(String(issue.origin));
}

function formatWords(issue: Issue & { readonly code: 'invalid_format' }): string {
  const { format } = issue;
  if (format === 'starts_with') return `it must begin with ${shown(issue.prefix)}`;
  if (format === 'ends_with') return `it must end with ${shown(issue.suffix)}`;
  if (format === 'includes') return `it must contain ${shown(issue.includes)}`;
  if (format === 'regex') return `it must match ${String(issue.pattern)}`;
  return `it must be ${FORMATS[format] ?? `a ${format}`}`;
}

/** Names the kinds of all alternatives, where nothing but the kind of the value is wrong. */
function unionWords(issue: Issue & { readonly code: 'invalid_union' }): string {
  const kinds = kindsOf(issue.errors, 0);
  return kinds === undefined
    ? 'it has none of the forms that it may have'
    : `it must be ${listed([...new Set(kinds)])}`;
}

function kindsOf(alternatives: readonly (readonly z.core.$ZodIssue[])[], depth: number): string[] | undefined {
  if (alternatives.length === 0 || depth > MAX_DEPTH) return undefined;
  const kinds: string[] = [];
  for (const [only, ...others] of alternatives) {
    if (only === undefined || others.length > 0 || only.path.length > 0) return undefined;
    if (only.code === 'invalid_type') kinds.push(kindName(only.expected));
    else if (only.code === 'invalid_value') kinds.push(...only.values.map(shown));
    else if (only.code === 'invalid_union') kinds.push(...(kindsOf(only.errors, depth + 1) ?? []));
    else return undefined;
  }
  return kinds.length === 0 ? undefined : kinds;
}

function kindName(kind: string): string {
  return KINDS[kind] ?? kind;
}

function otherKind(expected: string, value: unknown): string {
  return expected === 'int' && Number.isFinite(value) ? '' : `, not ${received(value)}`;
}

function received(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return value === null ? 'null' : kindName(typeof value);
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
