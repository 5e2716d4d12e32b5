// Hides secrets when the configuration is read, and restores them when an update sends back what was shown.
import { Problem } from '../contract/problem.ts';
import { canonicalText } from '../kit/canonical-text.ts';
import { isObject } from '../kit/plain-object.ts';
import { own } from './layers.ts';
import type { Place } from './marks.ts';

const MASK = '********';
const CONFIGURED = '_configured';
const WEB_ADDRESS = /^https?:/i;
const USERINFO = /^([a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/i;
/** A URL with a mask for its credentials, as far as its host: what follows may hold other secrets. */
const MASKED_URL = /^[a-z][a-z0-9+.-]*:\/\/\*{8}@[^\s/?#]*/i;

/**
 * The value as answers show it: each write-only member is blank and gets a flag beside it that says whether it is set,
 * and what is unknown is masked. With `maskAll`, every other secret and credentials in URLs are masked too. Parts
 * without secrets stay the same objects.
 */
export function shownValue(value: unknown, place: Place, maskAll: boolean): unknown {
  const mask = maskAll || place.isUnknown;
  if (Array.isArray(value)) return shownList(value, place.item(), mask);
  if (isObject(value)) return shownObject(value, place, mask);
  return mask ? maskedLeaf(value, place) : value;
}

function shownList(list: readonly unknown[], item: Place, mask: boolean): readonly unknown[] {
  const shown = list.map(member => shownValue(member, item, mask));
  return shown.every((member, index) => member === list[index]) ? list : shown;
}

function shownObject(object: Readonly<Record<string, unknown>>, place: Place, mask: boolean): unknown {
  const shown: Record<string, unknown> = {};
  let isSame = true;
  const put = (key: string, member: unknown): void => {
    shown[key] = member;
    isSame &&= member === object[key];
  };
  const blanked = new Set(place.writeOnlyKeys());
  for (const [key, member] of Object.entries(object)) {
    if (place.hasWriteOnly(key)) blanked.add(key);
    else if (mask || place.masksUnknown || typeof member === 'object')
      put(key, shownValue(member, place.member(key), mask));
    else put(key, member);
  }
  for (const key of blanked) {
    put(key, place.member(key).blank());
    put(key + CONFIGURED, !isBlank(object[key]));
  }
  return isSame ? object : shown;
}

/** The value without its secret members. */
export function valueWithoutSecrets(value: unknown, place: Place): unknown {
  if (Array.isArray(value)) {
    const item = place.item();
    return value.map(member => valueWithoutSecrets(member, item));
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => {
      const at = place.member(key);
      return at.secret ? [] : [[key, valueWithoutSecrets(member, at)]];
    }),
  );
}

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

/** Finds the stored member for a sent one, given the one at the same place. */
type Counterpart = (member: unknown, atSamePlace: unknown) => unknown;

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
  if (typeof sent === 'string') return sent === MASK || isMaskOfEither(sent, stored, place) ? KEEP : unmasked(sent);
  if (Array.isArray(sent)) return restoredList(sent, stored, place.item());
  if (!isObject(sent)) return sent;
  const restored = restoredObject(sent, stored, place, fill);
  const isEmptied = Object.keys(restored).length === 0 && Object.keys(sent).length > 0;
  return isEmptied && fill === 'nowhere' ? KEEP : restored;
}

/** The text. A URL that was changed beside its mask is refused: the mask would be saved in place of the credentials. */
function unmasked(sent: string): string {
  const [url] = MASKED_URL.exec(sent) ?? [];
  if (url === undefined) return sent;
  throw new Problem(400, `The credentials of ${url} are hidden; write them out, or send the URL as it was shown`);
}

function restoredList(sent: readonly unknown[], stored: Stored, item: Place): unknown[] {
  const { inForce, withoutMemory } = stored;
  const members: readonly unknown[] = Array.isArray(inForce) ? inForce : [];
  const others: readonly unknown[] = Array.isArray(withoutMemory) && withoutMemory !== inForce ? withoutMemory : [];
  const counterpart = counterparts(members, item);
  const otherCounterpart = counterparts(others, item);
  const wasShownOthers = others.length > 0 && countShown(sent, others, item) > countShown(sent, members, item);
  const atSamePlace = (list: readonly unknown[], index: number) =>
    list.length === sent.length ? list[index] : undefined;
  return sent.flatMap((member, index) => {
    const other = otherCounterpart(member, wasShownOthers ? atSamePlace(others, index) : undefined);
    // What was shown for an item tells more than its place.
    const isOther = other !== undefined;
    const known = {
      inForce:
        isOther && wasShownOthers ? undefined : counterpart(member, isOther ? undefined : atSamePlace(members, index)),
      withoutMemory: other,
    };
    const restored = restoredValue(member, known, item, 'here');
    if (restored !== KEEP) return [restored];
    const kept = keptValue(member, known, item);
    return kept === undefined ? [] : [kept];
  });
}

/**
 * Finds the stored member that corresponds to a sent one: by what was shown for it, those that are shown alike in their
 * order. Each stored member is looked at once, however many are sent.
 */
function counterparts(known: readonly unknown[], item: Place): Counterpart {
  const byShown = inOrder(known, other => canonicalText(shownValue(other, item, true)));
  const changed = changedCounterparts(known, item);
  return (member, atSamePlace) => byShown(canonicalText(member)) ?? changed(member, atSamePlace);
}

/**
 * Finds a stored member that the client has changed: by the member marked as identity, which may have been shown with a
 * mask itself, and where none is marked by its index.
 */
function changedCounterparts(known: readonly unknown[], item: Place): Counterpart {
  const identity = item.identityKey();
  if (identity === undefined) return (_member, atSamePlace) => atSamePlace;
  const idOf = (member: unknown): unknown => own(member, identity);
  const shownIdOf = (member: unknown): unknown => maskedLeaf(idOf(member), item.member(identity));
  const byId = inOrder(known, idOf);
  const byAddress = inOrder(known, other => addressIn(idOf(other)));
  const byShownId = inOrder(known, shownIdOf);
  return (member, atSamePlace) => {
    const id = idOf(member);
    if (id === undefined) return undefined;
    if (id === idOf(atSamePlace) || id === shownIdOf(atSamePlace)) return atSamePlace;
    const address = addressIn(id);
    return byId(id) ?? (address === undefined ? undefined : byAddress(address)) ?? byShownId(id);
  };
}

/** Finds members by a key that several may have: one after the other, and the last of them again. */
function inOrder(members: readonly unknown[], keyOf: (member: unknown) => unknown): (key: unknown) => unknown {
  const byKey = new Map<unknown, unknown[]>();
  for (const member of members.toReversed()) {
    const key = keyOf(member);
    const alike = byKey.get(key);
    if (alike === undefined) byKey.set(key, [member]);
    else alike.push(member);
  }
  return key => {
    const alike = byKey.get(key);
    return alike !== undefined && alike.length > 1 ? alike.pop() : alike?.[0];
  };
}

/** An identity that is a web address, in its normal form: a client may leave out the slash at its end. */
function addressIn(identity: unknown): string | undefined {
  if (typeof identity !== 'string' || !WEB_ADDRESS.test(identity) || !URL.canParse(identity)) return undefined;
  return new URL(identity).href.replace(/(?<!\/)\/+$/, '');
}

/** How many of the sent members were shown so for one in the list; 0 where an identity tells which is meant. */
function countShown(sent: readonly unknown[], list: readonly unknown[], item: Place): number {
  if (item.identityKey() !== undefined) return 0;
  const left = new Map<string, number>();
  for (const member of list) {
    const text = canonicalText(shownValue(member, item, true));
    left.set(text, (left.get(text) ?? 0) + 1);
  }
  return sent.filter(member => {
    const text = canonicalText(member);
    const count = left.get(text) ?? 0;
    left.set(text, count - 1);
    return count > 0;
  }).length;
}

function isMaskOfEither(sent: string, { inForce, withoutMemory }: Stored, place: Place): boolean {
  return isMaskOf(sent, inForce, place) || isMaskOf(sent, withoutMemory, place);
}

function isMaskOf(sent: unknown, stored: unknown, place: Place): boolean {
  return typeof sent === 'string' && sent.includes(MASK) && maskedLeaf(stored, place) === sent;
}

/** Whether a mask stands for the text or number, or a part of it, where secrets are masked. */
export function isHidden(value: unknown, place: Place): boolean {
  return maskedLeaf(value, place) !== value;
}

function maskedLeaf(value: unknown, place: Place): unknown {
  if (typeof value === 'number') return place.secretBySchema ? MASK : value;
  if (typeof value !== 'string' || value === '') return value;
  return place.secret ? MASK : value.replace(USERINFO, `$1${MASK}@`);
}

function isFlag(key: string, place: Place): boolean {
  return key.endsWith(CONFIGURED) && place.member(key.slice(0, -CONFIGURED.length)).writeOnly;
}

function isBlank(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
