// Matches the items of a changed list with the former ones, so that the comments of an item stay with it. Equal items
// are matched first, then those that have most in common. Where as many items went as came between two that stay, they
// are matched in their order.
import { canonicalText } from './canonical-text.ts';
import { commonEnds } from './common-ends.ts';
import { isObject } from './plain-object.ts';

export interface MatchedItems {
  /** For each wanted item the index that it had before; undefined where it is new. */
  readonly sources: readonly (number | undefined)[];
  /** The former indices of the items that keep their order, ascending. The other sources are to be moved. */
  readonly stays: readonly number[];
}

/** The most comparisons of texts that take no noticeable time; above, equal items are matched whatever their order. */
const MAX_TEXT_COMPARISONS = 1_000_000;
/** The most comparisons of items that take no noticeable time; above, only equal items are matched. */
const MAX_ITEM_COMPARISONS = 40_000;
/** A member that identifies an object by a text or a number, as `membersOf` writes it. */
const NAME = /^"\w*(?:id|key|name|slug|uuid)":["\d]/i;
/** How much an equal name counts, where any other equal member counts 1. */
const NAME_WEIGHT = 1_000;

export function matchItems(present: readonly unknown[], wanted: readonly unknown[]): MatchedItems {
  const { head, tail } = commonEnds(present, wanted);
  const sources = wanted.map((_item, index) => {
    if (index < head) return index;
    return index < wanted.length - tail ? undefined : index - wanted.length + present.length;
  });
  const middle = { before: span(head, present.length - tail), after: span(head, wanted.length - tail) };
  const isLeft = () => {
    const used = new Set(sources);
    middle.before = middle.before.filter(index => !used.has(index));
    middle.after = middle.after.filter(index => sources[index] === undefined);
    return middle.before.length > 0 && middle.after.length > 0;
  };
  if (isLeft()) matchEqual(present, wanted, middle, sources);
  if (isLeft()) matchAlike(present, wanted, middle, sources);
  const stays = longestIncreasing(sources);
  return isLeft() ? withPlaces(sources, stays, present.length) : { sources, stays };
}

/**
 * Matches items by their places: those that both lists end with in common, and every other item with the one at the
 * same index.
 */
export function matchPlaces(present: readonly unknown[], wanted: readonly unknown[]): MatchedItems {
  const { tail } = commonEnds(present, wanted);
  const common = Math.min(present.length, wanted.length) - tail;
  const sources = wanted.map((_item, index) => {
    if (index < common) return index;
    return index < wanted.length - tail ? undefined : index - wanted.length + present.length;
  });
  return { sources, stays: sources.filter(source => source !== undefined) };
}

/** Items that are put behind the one with the index `at`, or before the first one where it is -1. */
export interface Planned<Item> {
  readonly at: number;
  readonly items: Item[];
}

/**
 * Plans where the wanted items that do not stay are put: each behind the last one before it that stays. Calls the
 * functions in the order of the wanted items.
 */
export function planItems<Item>(
  wanted: readonly unknown[],
  { sources, stays }: MatchedItems,
  stay: (source: number, value: unknown) => void,
  put: (value: unknown, source: number | undefined) => Item,
): Planned<Item>[] {
  const isStaying = new Set(stays);
  const planned: Planned<Item>[] = [];
  let at = -1;
  for (const [index, value] of wanted.entries()) {
    const source = sources[index];
    if (source !== undefined && isStaying.has(source)) {
      stay(source, value);
      at = source;
      continue;
    }
    if (planned.at(-1)?.at !== at) planned.push({ at, items: [] });
    planned.at(-1)?.items.push(put(value, source));
  }
  return planned;
}

/** The indices of both lists that are not matched yet. */
interface Left {
  readonly before: readonly number[];
  readonly after: readonly number[];
}

type Sources = (number | undefined)[];

/** Matches equal items: first as many as can keep their order, then the others one after the other. */
function matchEqual(present: readonly unknown[], wanted: readonly unknown[], left: Left, sources: Sources): void {
  const one = left.before.map(index => canonicalText(present[index]));
  const other = left.after.map(index => canonicalText(wanted[index]));
  const pairs = one.length * other.length > MAX_TEXT_COMPARISONS ? [] : commonSubsequence(one, other);
  const isUsed = new Set<number>();
  for (const [before, after] of pairs) {
    sources[left.after[after] as number] = left.before[before];
    isUsed.add(before);
  }
  const waiting = new Map<string, number[]>();
  for (const [index, text] of one.entries()) {
    if (isUsed.has(index)) continue;
    const same = waiting.get(text);
    if (same === undefined) waiting.set(text, [index]);
    else same.push(index);
  }
  for (const same of waiting.values()) same.reverse();
  for (const [index, text] of other.entries()) {
    const at = left.after[index] as number;
    const before = sources[at] === undefined ? waiting.get(text)?.pop() : undefined;
    if (before !== undefined) sources[at] = left.before[before];
  }
}

/**
 * Matches objects and lists that have a name or half of their members in common, the most alike first. Objects whose
 * names differ need more than half.
 */
function matchAlike(present: readonly unknown[], wanted: readonly unknown[], left: Left, sources: Sources): void {
  const one = left.before.flatMap(index => membersOf(present[index], index));
  const other = left.after.flatMap(index => membersOf(wanted[index], index));
  if (one.length * other.length > MAX_ITEM_COMPARISONS) return;
  const pairs: { before: number; after: number; score: number }[] = [];
  for (const { index: before, members, names } of one) {
    for (const { index: after, members: others, names: otherNames } of other) {
      const common = [...members].filter(member => others.has(member)).length;
      const equal = names.filter(name => others.has(name)).length;
      const isRenamed = equal === 0 && names.length > 0 && otherNames.length > 0;
      const surplus = common * 2 - Math.max(members.size, others.size);
      const isAlike = equal > 0 || surplus > 0 || (surplus === 0 && common > 0 && !isRenamed);
      if (isAlike) pairs.push({ before, after, score: common + equal * NAME_WEIGHT });
    }
  }
  const isUsed = new Set<number>();
  for (const { before, after } of pairs.sort((a, b) => b.score - a.score)) {
    if (isUsed.has(before) || sources[after] !== undefined) continue;
    sources[after] = before;
    isUsed.add(before);
  }
}

/** Matches the items between two that stay in their order, where as many came as went. */
function withPlaces(sources: Sources, stays: readonly number[], count: number): MatchedItems {
  const isMoved = new Set(sources);
  const isStaying = new Set(stays);
  const all = [...stays];
  let from = 0;
  let came: number[] = [];
  for (const [index, source] of [...sources, count].entries()) {
    if (source === undefined) came.push(index);
    else if (isStaying.has(source) || index === sources.length) {
      const went = span(from, source).filter(before => !isMoved.has(before));
      if (went.length === came.length)
        for (const [place, before] of went.entries()) {
          sources[came[place] as number] = before;
          all.push(before);
        }
      from = source + 1;
      came = [];
    }
  }
  return { sources, stays: all.sort((a, b) => a - b) };
}

interface Compared {
  readonly index: number;
  /** The members of an object with their names, or the items of a list. */
  readonly members: ReadonlySet<string>;
  readonly names: readonly string[];
}

function membersOf(value: unknown, index: number): Compared[] {
  if (Array.isArray(value)) return [{ index, members: new Set(value.map(canonicalText)), names: [] }];
  if (!isObject(value)) return [];
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}:${canonicalText(member)}`);
  return [{ index, members: new Set(members), names: members.filter(member => NAME.test(member)) }];
}

/** Pairs of indices of a longest common subsequence. */
function commonSubsequence(one: readonly string[], other: readonly string[]): [number, number][] {
  const width = other.length + 1;
  const lengths = new Uint32Array((one.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = one.length - 1; row >= 0; row -= 1)
    for (let column = other.length - 1; column >= 0; column -= 1)
      lengths[row * width + column] =
        one[row] === other[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
  const pairs: [number, number][] = [];
  for (let row = 0, column = 0; row < one.length && column < other.length; ) {
    if (one[row] === other[column]) pairs.push([row++, column++]);
    else if (at(row + 1, column) >= at(row, column + 1)) row += 1;
    else column += 1;
  }
  return pairs;
}

/** A longest subsequence of the numbers that ascends. */
function longestIncreasing(numbers: Sources): number[] {
  /** For each length the smallest number with which such a subsequence ends. */
  const ends: number[] = [];
  const before = new Map<number, number | undefined>();
  for (const number of numbers) {
    if (number === undefined) continue;
    let length = 0;
    for (let end = ends.length; length < end; ) {
      const middle = (length + end) >>> 1;
      if ((ends[middle] as number) < number) length = middle + 1;
      else end = middle;
    }
    ends[length] = number;
    before.set(number, ends[length - 1]);
  }
  const result: number[] = [];
  for (let number = ends.at(-1); number !== undefined; number = before.get(number)) result.push(number);
  return result.reverse();
}

function span(start: number, end: number): number[] {
  return Array.from({ length: Math.max(0, end - start) }, (_item, index) => start + index);
}
