// The details of a configuration change: values before and after by their paths, without secrets.
import { isObject } from '#kit/plain-object';
import { valueAt } from '#kit/value-at';
import { MASK, redactText } from '../redaction/secret-text.ts';
import { isSecretMember, redactValue } from '../redaction/secret-value.ts';

interface ValueChange {
  /** Dotted. */
  readonly path: string;
  /** undefined when there was no value. */
  readonly before?: unknown;
  readonly after?: unknown;
}

export interface ChangeDetails {
  readonly changes: readonly ValueChange[];
  /** Whether there are more changes than those listed. */
  readonly truncated: boolean;
  readonly total_changes: number;
}

const MAX_CHANGES = 100;
const MAX_VALUE_CHARS = 500;
const MAX_DEPTH = 100;

/**
 * The same values without what their schemas call secret, because a name alone does not show that a URL holds a token.
 */
export interface OpenSides {
  readonly before: unknown;
  readonly after: unknown;
}

/** The differences, only at the dotted `paths` if given; undefined when there are none. A list counts as one value. */
export function changeDetails(
  before: unknown,
  after: unknown,
  { paths, open = { before, after } }: { readonly paths?: readonly string[]; readonly open?: OpenSides } = {},
): ChangeDetails | undefined {
  const differences: Difference[] = [];
  compare(before, after, [], false, differences);
  const found = paths === undefined ? differences : differences.filter(({ path }) => isAt(path.join('.'), paths));
  if (found.length === 0) return undefined;
  const changes = found.slice(0, MAX_CHANGES).map(({ path, isSecret, old, now }) => ({
    path: redactText(path.join('.')),
    ...(old === undefined ? {} : { before: shownOf(old, valueAt(open.before, path), isSecret) }),
    ...(now === undefined ? {} : { after: shownOf(now, valueAt(open.after, path), isSecret) }),
  }));
  return { changes, truncated: found.length > MAX_CHANGES, total_changes: found.length };
}

interface Difference {
  readonly path: readonly string[];
  readonly isSecret: boolean;
  readonly old: unknown;
  readonly now: unknown;
}

/** An object that is identical on both sides is not looked into. */
function compare(old: unknown, now: unknown, path: readonly string[], isSecret: boolean, found: Difference[]): void {
  if (old === now) return;
  if ((!isParent(old) && !isParent(now)) || path.length >= MAX_DEPTH) {
    if (JSON.stringify(old) !== JSON.stringify(now)) found.push({ path, isSecret, old, now });
    return;
  }
  const [oldMembers, nowMembers] = [isParent(old) ? old : {}, isParent(now) ? now : {}];
  for (const name of new Set([...Object.keys(oldMembers), ...Object.keys(nowMembers)])) {
    const [one, other] = [own(oldMembers, name), own(nowMembers, name)];
    if (one !== other) compare(one, other, [...path, name], isSecret || isSecretMember(name, other ?? one), found);
  }
}

/** Whether the place is one of the paths, or below or above one. */
function isAt(place: string, paths: readonly string[]): boolean {
  return paths.some(path => path === place || place.startsWith(`${path}.`) || path.startsWith(`${place}.`));
}

function isParent(value: unknown): value is Record<string, unknown> {
  return isObject(value) && Object.keys(value).length > 0;
}

function own(members: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(members, name) ? members[name] : undefined;
}

/** The value as it is shown. `open` is undefined when a schema calls the value secret. */
function shownOf(value: unknown, open: unknown, isSecret: boolean): unknown {
  if ((isSecret || open === undefined) && isFilled(value)) return MASK;
  const clean = redactValue(open === undefined ? value : open);
  if (typeof clean !== 'string' && (clean === null || typeof clean !== 'object')) return clean;
  const text = typeof clean === 'string' ? clean : JSON.stringify(clean);
  return text.length <= MAX_VALUE_CHARS ? text : `${text.slice(0, MAX_VALUE_CHARS)}...`;
}

function isFilled(value: unknown): boolean {
  return value !== null && value !== '';
}
