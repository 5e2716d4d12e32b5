// Finds the members of stored lists that the members of a sent one stand for.
import { canonicalText } from '../kit/canonical-text.ts';
import { own } from './layers.ts';
import type { Place } from './marks.ts';
import { maskedLeaf, shownValue } from './secrets.ts';

const WEB_ADDRESS = /^https?:/i;

/** Finds the stored member for a sent one, given the one at the same place. */
type Counterpart = (member: unknown, atSamePlace: unknown) => unknown;

/**
 * Finds the stored member that corresponds to a sent one: by what was shown for it, those that are shown alike in their
 * order. Each stored member is looked at once, however many are sent.
 */
export function counterparts(known: readonly unknown[], item: Place): Counterpart {
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
export function countShown(sent: readonly unknown[], list: readonly unknown[], item: Place): number {
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
