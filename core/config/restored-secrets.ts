// Restores secrets when an update sends back the configuration as it was shown.
import { Problem } from '../contract/problem.ts';
import { canonicalText } from '../kit/canonical-text.ts';
import { isObject } from '../kit/plain-object.ts';
import { type ConfigPath, own } from './layers.ts';
import { ANY_OF_SEVERAL, counterparts, countShown } from './list-counterparts.ts';
import type { Place } from './marks.ts';
import { CONFIGURED, isBlank, MASK, maskedLeaf } from './secrets.ts';

/** A URL with a mask for its credentials, as far as its host: what follows may hold other secrets. */
const MASKED_URL = /^[a-z][a-z0-9+.-]*:\/\/\*{8}@[^\s/?#]*/i;
/** Tells data with masks, or with write-only secrets that were shown blank, by its canonical text. */
const IS_HIDING = /\*{8}|_configured":true/;

/** A value in force, and the one at its place without the changes in memory, which may be what a client was shown. */
export interface Stored {
  readonly inForce: unknown;
  readonly withoutMemory: unknown;
}

/**
 * An update with its placeholders resolved: a mask or a blank write-only secret stands for the stored value, and the
 * flags that answers add are dropped. With `merged` the placeholders are left out, so that the merge keeps what is
 * stored; with `replaced` the stored value is filled in.
 */
export function restoredUpdate(
  sent: Readonly<Record<string, unknown>>,
  stored: Stored,
  place: Place,
  members: 'merged' | 'replaced',
): Record<string, unknown> {
  return restoredObject(sent, stored, place, members === 'merged' ? 'nowhere' : 'below');
}

/**
 * The places of masks that stood for nothing, as where a member was renamed: their members are missing in `left`. Items
 * of a list whose length has changed are not looked at.
 */
export function lostMasks(sent: unknown, left: unknown, path: ConfigPath): ConfigPath[] {
  if (sent === MASK) return left === undefined ? [path] : [];
  if (Array.isArray(sent))
    return Array.isArray(left) && left.length === sent.length
      ? sent.flatMap((item, index) => lostMasks(item, left[index], [...path, String(index)]))
      : [];
  if (!isObject(sent)) return [];
  return Object.entries(sent).flatMap(([key, member]) => lostMasks(member, own(left, key), [...path, key]));
}

/** At which depth placeholders are replaced by the stored value rather than left out. */
type Fill = 'nowhere' | 'below' | 'here';

/** The result for a placeholder, which keeps the stored value. */
const KEEP = Symbol('keep');

function restoredObject(
  sent: Readonly<Record<string, unknown>>,
  stored: Stored,
  place: Place,
  fill: Fill,
): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(sent)) {
    if (isFlag(key, place)) continue;
    const at = place.member(key);
    // A blank that was shown as not set stands for nothing that memory has removed.
    const wasNotSet = at.writeOnly && own(sent, key + CONFIGURED) === false;
    const known = {
      inForce: own(stored.inForce, key),
      withoutMemory: wasNotSet ? undefined : own(stored.withoutMemory, key),
    };
    const restored = restoredValue(member, known, at, fill === 'below' ? 'here' : fill);
    if (restored !== KEEP) {
      result[key] = restored;
      continue;
    }
    const kept = keptValue(member, known, at);
    if (fill === 'here' && kept !== undefined) result[key] = kept;
  }
  return fill === 'here' ? { ...result, ...keptMembers(stored, sent, place) } : result;
}

/** The stored members that stay although they were not sent. */
function keptMembers(
  { inForce, withoutMemory }: Stored,
  sent: Readonly<Record<string, unknown>>,
  place: Place,
): Record<string, unknown> {
  const stored = inForce ?? withoutMemory;
  if (!isObject(stored)) return {};
  const left = Object.entries(stored).filter(([key]) => !Object.hasOwn(sent, key));
  return Object.fromEntries(left.filter(([key]) => place.member(key).isKept));
}

/** What a placeholder stands for: the value in force, unless another was shown. */
function keptValue(sent: unknown, { inForce, withoutMemory }: Stored, place: Place): unknown {
  return inForce === undefined || (isMaskOf(sent, withoutMemory, place) && !isMaskOf(sent, inForce, place))
    ? withoutMemory
    : inForce;
}

function restoredValue(sent: unknown, stored: Stored, place: Place, fill: Fill): unknown {
  if (place.writeOnly && sent !== null && isBlank(sent)) return KEEP;
  if (typeof sent === 'string')
    return sent === MASK || isMaskOfEither(sent, stored, place) ? KEEP : unmasked(sent, stored, place);
  if (Array.isArray(sent)) return restoredList(sent, stored, place.item());
  if (!isObject(sent)) return sent;
  const restored = restoredObject(sent, stored, place, fill);
  const isEmptied = Object.keys(restored).length === 0 && Object.keys(sent).length > 0;
  return isEmptied && fill === 'nowhere' ? KEEP : restored;
}

/** The text. One that was changed beside its masks is refused: they would be saved in place of the credentials. */
function unmasked(sent: string, { inForce, withoutMemory }: Stored, place: Place): string {
  const [url] = MASKED_URL.exec(sent) ?? [];
  if (url !== undefined)
    throw new Problem(400, `The credentials of ${url} are hidden; write them out, or send the URL as it was shown`);
  const hasMask = (text: unknown): boolean => typeof text === 'string' && text.includes(MASK);
  if (place.secret || !hasMask(sent) || hasMask(inForce) || hasMask(withoutMemory)) return sent;
  throw new Problem(400, `A text with ${MASK} hides credentials; write them out, or send the text as it was shown`);
}

/**
 * A client may have been shown the list in force or, before memory changed it, the one without memory. Its members are
 * looked for in both, but by their places only in the one for which more of them were shown.
 */
function restoredList(sent: readonly unknown[], stored: Stored, item: Place): unknown[] {
  const inForce = listOf(stored.inForce);
  const withoutMemory = stored.withoutMemory === stored.inForce ? [] : listOf(stored.withoutMemory);
  const isFromBefore = countShown(sent, withoutMemory, item) > countShown(sent, inForce, item);
  const findInForce = counterparts(inForce, sent, item);
  const findWithoutMemory = counterparts(withoutMemory, sent, item);
  const at = (index: number, list: readonly unknown[]) => (list.length === sent.length ? index : undefined);
  return sent.flatMap((member, index) => {
    const before = findWithoutMemory(member, isFromBefore ? at(index, withoutMemory) : undefined);
    // What was shown for a member tells more than its place.
    const now = findInForce(member, before === undefined ? at(index, inForce) : undefined);
    const known = isFromBefore && before !== undefined ? oneOf(member, undefined, before) : oneOf(member, now, before);
    const restored = restoredValue(member, known, item, 'here');
    if (restored !== KEEP) return [restored];
    const kept = keptValue(member, known, item);
    return kept === undefined ? [] : [kept];
  });
}

/** Throws a Problem 400 when the member has a secret that could be the one of several stored members. */
function oneOf(member: unknown, inForce: unknown, withoutMemory: unknown): Stored {
  const isTold = inForce === undefined ? withoutMemory !== ANY_OF_SEVERAL : inForce !== ANY_OF_SEVERAL;
  if (!isTold && IS_HIDING.test(canonicalText(member)))
    throw new Problem(
      400,
      'Hidden secrets of a list cannot be told apart after this change of its items; ' +
        'write out the secrets of the items that look alike, were moved or were changed',
    );
  const known = (value: unknown): unknown => (value === ANY_OF_SEVERAL ? undefined : value);
  return { inForce: known(inForce), withoutMemory: known(withoutMemory) };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isMaskOfEither(sent: string, { inForce, withoutMemory }: Stored, place: Place): boolean {
  return isMaskOf(sent, inForce, place) || isMaskOf(sent, withoutMemory, place);
}

function isMaskOf(sent: unknown, stored: unknown, place: Place): boolean {
  return typeof sent === 'string' && sent.includes(MASK) && maskedLeaf(stored, place) === sent;
}

function isFlag(key: string, place: Place): boolean {
  return key.endsWith(CONFIGURED) && place.member(key.slice(0, -CONFIGURED.length)).writeOnly;
}
