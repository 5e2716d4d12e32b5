// Finds the members of stored lists that the members of a sent one stand for.
import { canonicalText } from '../kit/canonical-text.ts';
import { deepEqual } from '../kit/deep-equal.ts';
import { own } from './layers.ts';
import type { Place } from './marks.ts';
import { maskedLeaf, shownList } from './secrets.ts';

const WEB_ADDRESS = /^https?:/i;

/** Stands for one of several stored members, when a sent list does not tell which of them a member is. */
export const ANY_OF_SEVERAL = Symbol('any of several');
/** Finds the stored member for a sent one, given the index at which the stored list has its own, if it has one. */
type Counterpart = (member: unknown, index: number | undefined) => unknown;

/**
 * Finds the stored member that corresponds to a sent one: by what was shown for it. Each stored member is looked at
 * once, however many are sent.
 */
export function counterparts(known: readonly unknown[], sent: readonly unknown[], item: Place): Counterpart {
  const shown = shownList(known, item, true).map(canonicalText);
  const sentTexts = sent.map(canonicalText);
  const asShown = new Set(sentTexts);
  const shownTexts = new Set(shown);
  const byShown = inOrder(known, shown, sentTexts);
  const changed = changedCounterparts(
    known.map((member, index) => ({ member, isTaken: asShown.has(shown[index] ?? '') })),
    sent.filter((_member, index) => !shownTexts.has(sentTexts[index] ?? '')),
    item,
  );
  return (member, index) => byShown(canonicalText(member)) ?? changed(member, index);
}

/** A stored member, and whether the client sent it as it was shown, so that it is no other. */
interface Known {
  readonly member: unknown;
  readonly isTaken: boolean;
}

/**
 * Finds a stored member that the client has changed: by the member marked as identity, which may have been shown with a
 * mask itself, and where none is marked by its index.
 */
function changedCounterparts(known: readonly Known[], sent: readonly unknown[], item: Place): Counterpart {
  const identity = item.identityKey();
  if (identity === undefined)
    return (_member, index) => {
      const atSamePlace = index === undefined ? undefined : known[index];
      return atSamePlace?.isTaken === true ? ANY_OF_SEVERAL : atSamePlace?.member;
    };
  const idOf = (member: unknown): unknown => own(member, identity);
  const shownIdOf = (member: unknown): unknown => maskedLeaf(idOf(member), item.member(identity));
  const left = known.filter(({ isTaken }) => !isTaken).map(({ member }) => member);
  const ids = sent.map(idOf);
  const byId = inOrder(left, left.map(idOf), ids);
  const byAddress = inOrder(left, left.map(idOf).map(addressIn), ids.map(addressIn));
  const byShownId = inOrder(left, left.map(shownIdOf), ids);
  return member => {
    const id = idOf(member);
    if (id === undefined) return undefined;
    const address = addressIn(id);
    return byId(id) ?? (address === undefined ? undefined : byAddress(address)) ?? byShownId(id);
  };
}

/**
 * Finds members by a key, given the keys of all. Members that share a key but differ are found one after the other if
 * the key was sent once for each of them; otherwise some were removed or copied, and nothing tells which.
 */
function inOrder(
  members: readonly unknown[],
  keys: readonly unknown[],
  sentKeys: readonly unknown[],
): (key: unknown) => unknown {
  const byKey = new Map<unknown, unknown[]>();
  for (const [index, key] of keys.entries()) {
    const alike = byKey.get(key);
    if (alike === undefined) byKey.set(key, [members[index]]);
    else alike.push(members[index]);
  }
  const sentCounts = counts(sentKeys);
  const next = new Map<unknown, number>();
  return key => {
    const alike = byKey.get(key) ?? [];
    const [first] = alike;
    if (alike.length < 2) return first;
    if (sentCounts.get(key) !== alike.length)
      return alike.every(other => deepEqual(other, first)) ? first : ANY_OF_SEVERAL;
    const turn = next.get(key) ?? 0;
    next.set(key, turn + 1);
    return alike[turn];
  };
}

function counts(keys: readonly unknown[]): Map<unknown, number> {
  const result = new Map<unknown, number>();
  for (const key of keys) result.set(key, (result.get(key) ?? 0) + 1);
  return result;
}

/** An identity that is a web address, in its normal form: a client may leave out the slash at its end. */
function addressIn(identity: unknown): string | undefined {
  if (typeof identity !== 'string' || !WEB_ADDRESS.test(identity) || !URL.canParse(identity)) return undefined;
  return new URL(identity).href.replace(/(?<!\/)\/+$/, '');
}

/** How many of the sent members were shown so for one in the list; 0 where an identity tells which is meant. */
export function countShown(sent: readonly unknown[], list: readonly unknown[], item: Place): number {
  if (item.identityKey() !== undefined) return 0;
  const left = counts(shownList(list, item, true).map(canonicalText));
  return sent.filter(member => {
    const text = canonicalText(member);
    const count = left.get(text) ?? 0;
    left.set(text, count - 1);
    return count > 0;
  }).length;
}
