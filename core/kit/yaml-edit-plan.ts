// The ranges of a YAML text that are to be replaced so that its mapping has exactly the wanted values.
import { isCollection, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap, type YAMLSeq } from 'yaml';
import { Problem } from '../contract/problem.ts';
import { BlockMembers } from './block-members.ts';
import { BracketMembers, type Range } from './bracket-members.ts';
import { deepEqual } from './deep-equal.ts';
import { type MatchedItems, matchItems, matchPlaces, type Planned, planItems } from './matched-items.ts';
import { isObject } from './plain-object.ts';
import { positionAt } from './text-position.ts';
import { applySplices, type Splice } from './text-splice.ts';
import { YamlTies } from './yaml-anchors.ts';
import { findRange, hasAnchor, readKey, YamlPlaces } from './yaml-places.ts';
import { formatInline, literalLines, needsBlock, YamlWriter } from './yaml-writer.ts';

type Values = Record<string, unknown>;

interface PlannedItem {
  readonly value: unknown;
  /** The index that it had in the list so far. */
  readonly source?: number;
  /** The changes within the item, which are made at its new place. */
  readonly changes?: readonly Splice[];
}

/** Collects the ranges of a text that are to be replaced, and how many values they change. */
export class YamlEditPlan {
  changed = 0;
  readonly #text: string;
  readonly #lineEnding: string;
  readonly #splices: Splice[];
  readonly #places: YamlPlaces;
  readonly #writer: YamlWriter;
  readonly #ties: YamlTies;

  /** `root` is the whole mapping of the text. */
  constructor(text: string, root: YAMLMap, lineEnding: string, splices: Splice[]) {
    this.#text = text;
    this.#lineEnding = lineEnding;
    this.#splices = splices;
    this.#places = new YamlPlaces(text);
    this.#writer = new YamlWriter(lineEnding);
    this.#ties = new YamlTies(root);
  }

  /** Plans the members of the mapping at `path`. `current` holds its values with aliases and merge keys resolved. */
  members(map: YAMLMap, current: Values, wanted: Values, path: readonly string[]): void {
    const byKey = new Map(map.items.map(pair => [readKey(pair), pair]));
    const isSame = (key: string, value: unknown): boolean =>
      Object.hasOwn(current, key) && (current[key] === value || deepEqual(current[key], value));
    const added: [string, unknown][] = [];
    for (const [key, value] of Object.entries(wanted)) {
      if (isSame(key, value)) continue;
      const pair = byKey.get(key);
      if (pair === undefined) added.push([key, value]);
      else if (!this.#inside(pair.value, current[key], value, [...path, key]))
        this.#replace(pair, value, [...path, key], map.flow === true);
    }
    const removed = Object.keys(current).filter(key => !Object.hasOwn(wanted, key));
    for (const key of removed) {
      const pair = byKey.get(key);
      if (pair === undefined) throw unpaired(map, [...path, key]);
      this.#refuseShared(pair, [...path, key]);
    }
    if (added.length + removed.length > 0) this.#restock(map, added, removed, path);
  }

  /** Takes the removed members away, and puts the added ones behind those that stay. */
  #restock(
    map: YAMLMap,
    added: readonly [string, unknown][],
    removed: readonly string[],
    path: readonly string[],
  ): void {
    this.changed += added.length + removed.length;
    const pairs = map.items;
    const gone = new Set(removed);
    const kept = [...pairs.keys()].filter(index => !gone.has(readKey(pairs[index] as Pair) ?? ''));
    const at = kept.at(-1) ?? -1;
    const ranges = this.#places.ofPairs(pairs);
    if (map.flow === true) {
      const texts = added.map(([key, value]) => `${formatInline(key, true)}: ${formatInline(value, true)}`);
      const planned = texts.length === 0 ? [] : [{ at, items: texts.map(text => ({ text })) }];
      this.#inBrackets(map, ranges, kept, planned, path);
    } else {
      const textFor = (indent: number) => added.map(([key, value]) => this.#writer.member(key, value, indent)).join('');
      this.#onLines(ranges, kept, added.length === 0 ? [] : [{ at, textFor }], path);
    }
  }

  /** Plans what differs inside a collection that stays one; false when it has to be replaced as a whole. */
  #inside(node: unknown, before: unknown, value: unknown, path: readonly string[]): boolean {
    if (isMap(node) && isObject(before) && isObject(value)) {
      if (!Object.keys(before).some(key => Object.hasOwn(value, key))) return false;
      this.members(node, before, value, path);
      return true;
    }
    if (!isSeq(node) || !Array.isArray(before) || !Array.isArray(value)) return false;
    if (before.length === 0 || value.length === 0) return false;
    return this.#items(node, before, value, path);
  }

  /**
   * Items that stay are changed where they are; others move with their lines, come or go. False for a block sequence of
   * which none stays.
   */
  #items(seq: YAMLSeq, current: readonly unknown[], wanted: readonly unknown[], path: readonly string[]): boolean {
    const nodes = seq.items as readonly (Node | null)[];
    const ranges = seq.flow === true ? nodes.map(node => this.#rangeOf(node, path)) : this.#places.ofItems(seq);
    const matched = this.#matched(seq, current, wanted);
    const { sources, stays } = matched;
    if (stays.length === 0 && seq.flow !== true) return false;
    const change = (source: number, value: unknown): void => {
      if (deepEqual(current[source], value)) return;
      const at = [...path, String(source)];
      const node = nodes[source] ?? null;
      if (this.#inside(node, current[source], value, at)) return;
      this.#refuseShared(node, at);
      this.#replaceItem(seq, node, ranges[source] as Range, value, at);
    };
    const put = (value: unknown, source: number | undefined): PlannedItem => {
      if (source === undefined) return { value };
      const count = this.#splices.length;
      change(source, value);
      return { value, source, changes: this.#splices.splice(count) };
    };
    const planned = planItems(wanted, matched, change, put);
    if (stays.length === nodes.length && planned.length === 0) return true;
    this.changed += 1;
    const isKept = new Set(sources);
    for (const [index, node] of nodes.entries()) if (!isKept.has(index)) this.#refuseShared(node, path);
    if (seq.flow === true) this.#moveInBrackets(seq, ranges, stays, planned, path);
    else this.#moveOnLines(ranges, stays, planned, path);
    return true;
  }

  /**
   * Items are matched by their places when an anchor or an alias would move, because an anchor stands before its
   * aliases.
   */
  #matched(seq: YAMLSeq, current: readonly unknown[], wanted: readonly unknown[]): MatchedItems {
    const matched = matchItems(current, wanted);
    const isStaying = new Set(matched.stays);
    const moved = matched.sources.filter(source => source !== undefined && !isStaying.has(source));
    const isTied = moved.some(source => this.#ties.isShared(seq.items[source as number] as Node | null));
    return isTied ? matchPlaces(current, wanted) : matched;
  }

  #moveInBrackets(
    seq: YAMLSeq,
    ranges: readonly Range[],
    kept: readonly number[],
    planned: readonly Planned<PlannedItem>[],
    path: readonly string[],
  ): void {
    const texts = planned.map(({ at, items }) => ({
      at,
      items: items.map(({ value, source, changes = [] }) => {
        const range = source === undefined ? undefined : ranges[source];
        const text = range === undefined ? formatInline(value, true) : this.#textOf(range, changes);
        return { text, source };
      }),
    }));
    this.#inBrackets(seq, ranges, kept, texts, path);
  }

  #moveOnLines(
    ranges: readonly Range[],
    kept: readonly number[],
    planned: readonly Planned<PlannedItem>[],
    path: readonly string[],
  ): void {
    const members = new BlockMembers(this.#text, ranges);
    const texts = planned.map(({ at, items }) => ({
      at,
      textFor: (indent: number) =>
        items
          .map(({ value, source, changes = [] }) => {
            if (source === undefined) return this.#writer.item(value, indent);
            const lines = members.lines(source);
            const text = lines.indent + this.#textOf(lines, changes);
            return text.endsWith('\n') ? text : text + this.#lineEnding;
          })
          .join(''),
    }));
    this.#onLines(ranges, kept, texts, path);
  }

  /** The text of the range, after the changes within it. */
  #textOf({ startOffset, endOffset }: Range, changes: readonly Splice[]): string {
    const inner = changes.map(change => ({
      startOffset: change.startOffset - startOffset,
      endOffset: change.endOffset - startOffset,
      text: change.text,
    }));
    return applySplices(this.#text.slice(startOffset, endOffset), inner);
  }

  #replaceItem(seq: YAMLSeq, node: Node | null, range: Range, value: unknown, path: readonly string[]): void {
    this.changed += 1;
    const replaced = this.#places.replaced(node, value);
    refuseMarked(node, replaced, path);
    const [start, end] = replaced ?? [range.endOffset, range.endOffset];
    const isBlock = isBlockCollection(node);
    // A value on several lines would take in the comment behind it.
    const isOnLine = !isBlock && (!needsBlock(value) || this.#places.commentAt(end) !== '');
    if (seq.flow === true || isOnLine) {
      const lead = this.#needsBlank(start) ? ' ' : '';
      const text = this.#inPlaceOf(node, value, seq.flow === true, this.#places.columnOf(range.startOffset));
      this.#splice(start, end, lead + text + this.#tail(start, end));
      return;
    }
    const column = this.#places.columnOf(range.startOffset);
    const anchorEnd = this.#anchorEnd(node, range.startOffset + 1);
    const anchor = this.#text.slice(range.startOffset + 1, anchorEnd);
    const comment = isBlock ? this.#places.commentAt(anchorEnd) : (this.#places.blockText(node)?.comment ?? '');
    const tail = this.#tail(start, end);
    const text =
      anchor + comment === ''
        ? this.#writer.item(value, column)
        : this.#writer.markedItem(value, { anchor, comment }, column);
    this.#splice(range.startOffset, end, text.slice(column, -this.#lineEnding.length) + tail);
  }

  #replace(pair: Pair, value: unknown, path: readonly string[], isInBrackets: boolean): void {
    const node = pair.value as Node | null;
    const key = pair.key as Node;
    this.#refuseShared(node, path);
    const replaced = this.#places.replaced(node, value);
    refuseMarked(node, replaced, path);
    const [start, end] = replaced ?? this.#places.emptyValue(key);
    if (isBlockCollection(node) && needsBlock(value)) this.#replaceBlock(key, [start, end], value);
    else this.#replaceInline(pair, [start, end], value, path, isInBrackets);
    this.changed += 1;
  }

  /** Replaces a block collection by another, which begins on a line of its own, after its indentation. */
  #replaceBlock(key: Node, [start, end]: readonly [number, number], value: object): void {
    const lineStart = this.#text.lastIndexOf('\n', start - 1) + 1;
    const indent = start - lineStart;
    const outer = this.#places.columnOf(key.range?.[0] ?? 0);
    // Only a sequence may stand right below its key.
    const isDeep = indent > outer || Array.isArray(value);
    this.#splice(lineStart, end, this.#writer.block(value, isDeep ? indent : outer + 2));
  }

  /** Replaces a value by one that begins on the line of its key. */
  #replaceInline(
    pair: Pair,
    [start, end]: readonly [number, number],
    value: unknown,
    path: readonly string[],
    isInBrackets: boolean,
  ): void {
    const node = pair.value as Node | null;
    const key = pair.key as Node;
    const isBlock = isBlockCollection(node);
    const from = isBlock ? this.#anchorEnd(node, this.#places.colonEnd(key)) : start;
    const hasColon = findRange(node) !== null || hasAnchor(node) || this.#text[from - 1] === ':';
    // Outside of brackets, a key without a colon would need another line for it.
    if (!hasColon && !isInBrackets) throw notSafe(path);
    const lead = !hasColon ? ': ' : this.#needsBlank(from) ? ' ' : '';
    const comment = isBlock ? this.#places.commentAt(from) : '';
    const text = this.#inPlaceOf(node, value, isInBrackets, this.#places.columnOf(key.range?.[0] ?? 0));
    this.#splice(from, end, lead + text + comment + this.#tail(from, end));
  }

  /**
   * The end of the anchor of a block collection, or `offset` without one. Its key's colon or its dash ends at `offset`.
   * An anchor on a line of its own goes with the collection; no alias names it.
   */
  #anchorEnd(node: Node | null, offset: number): number {
    return hasAnchor(node) ? (this.#places.anchorEnd(offset) ?? offset) : offset;
  }

  /** Whether a value at the offset needs a blank before it, to be apart from the text there. */
  #needsBlank(offset: number): boolean {
    return offset > 0 && !/[\s,[{]/.test(this.#text[offset - 1] ?? '');
  }

  /** The value as it is written where a node stood; `column` is that of its key or dash. */
  #inPlaceOf(node: Node | null, value: unknown, isInBrackets: boolean, column: number): string {
    const before = this.#places.blockText(node);
    if (before === undefined) return formatInline(value, isInBrackets, isScalar(node) ? node : undefined);
    const literal = literalLines(value);
    if (literal === undefined) return formatInline(value, isInBrackets) + before.comment;
    const indent = ' '.repeat(before.indent ?? column + 2);
    const lines = literal.lines.map(line => (line === '' ? '' : indent + line));
    // A literal without `-` ends with a line break, which a file that ends without one would not have.
    const isOpen = literal.chomping === '' && node?.range?.[1] === this.#text.length && !this.#text.endsWith('\n');
    return [`|${literal.chomping}${before.comment}`, ...lines, ...(isOpen ? [''] : [])].join(this.#lineEnding);
  }

  /** The line break that a range ends with; empty where it ends with none. */
  #tail(startOffset: number, endOffset: number): string {
    return this.#text.slice(startOffset, endOffset).endsWith('\n') ? this.#lineEnding : '';
  }

  /** Removes members of a collection in brackets, and puts others between those that stay. */
  #inBrackets(
    node: YAMLMap | YAMLSeq,
    ranges: readonly Range[],
    kept: readonly number[],
    planned: readonly {
      readonly at: number;
      readonly items: readonly { text: string; source?: number | undefined }[];
    }[],
    path: readonly string[],
  ): void {
    const [start = 0, end = 0] = node.range ?? [];
    const inner = { startOffset: start + 1, endOffset: end - 1 };
    const members = new BracketMembers(this.#text, inner, ranges, '#');
    const hasEmpty = isMap(node) && node.items.some(({ value }) => findRange(value as Node | null) === null);
    // The tag or the anchor of a removed member would stay, and belong to the next one.
    if ((members.hasMarks || hasEmpty) && ranges.length > kept.length) throw notSafe(path);
    const [first] = kept;
    if (first === undefined) {
      const texts = planned.flatMap(({ items }) => items.map(({ text }) => text));
      const blank = isSeq(node) && /\S/.test(this.#text[inner.startOffset] ?? '') ? '' : ' ';
      this.#splice(inner.startOffset, inner.endOffset, texts.length === 0 ? '' : blank + texts.join(', ') + blank);
      return;
    }
    const additions = planned.map(({ at, items }) => {
      const neighbour = at >= 0 ? at : first;
      const indent = ' '.repeat(this.#places.columnOf(ranges[neighbour]?.startOffset ?? 0));
      const isOnLine = members.beginsLine(neighbour) || items.some(({ source }) => members.needsLine(source));
      const written = items.map(({ source, text }) => members.asAddition(source, text));
      return { at, items: written, lead: isOnLine ? this.#lineEnding + indent : ' ' };
    });
    this.#splices.push(...members.restocked(kept, additions));
  }

  /** Removes members that have lines of their own, and puts others between those that stay. */
  #onLines(
    ranges: readonly Range[],
    kept: readonly number[],
    planned: readonly { readonly at: number; readonly textFor: (indent: number) => string }[],
    path: readonly string[],
  ): void {
    const isTop = path.length === 0;
    const allFor = (indent: number) => planned.map(({ textFor }) => textFor(indent)).join('');
    if (ranges.length === 0) {
      if (!isTop) throw notSafe(path);
      this.#insertLine(this.#text.length, allFor(0));
      return;
    }
    const members = new BlockMembers(this.#text, ranges);
    if (kept.length === 0) {
      if (!isTop) throw notSafe(path);
      const text = allFor(0) || `{}${this.#lineEnding}`;
      this.#splice(members.start(0), members.end(ranges.length - 1), text);
      return;
    }
    const isHead = ({ at }: { readonly at: number }): boolean => at < 0 && members.beginsInline;
    const head = planned.find(isHead)?.textFor(members.column);
    this.#splices.push(...members.removals(kept, this.#lineEnding, head));
    for (const { at, textFor } of planned.filter(entry => !isHead(entry)))
      this.#insertLine(at < 0 ? members.start(kept[0] ?? 0) : members.end(at), textFor(members.column));
  }

  #insertLine(offset: number, text: string): void {
    const isOpen = offset > 0 && this.#text[offset - 1] !== '\n';
    this.#splice(offset, offset, (isOpen ? this.#lineEnding : '') + text);
  }

  #rangeOf(node: Node | null, path: readonly string[]): Range {
    const range = findRange(node);
    if (range === null || range === undefined) throw notSafe(path);
    return { startOffset: this.#places.anchorStart(node) ?? range[0], endOffset: range[1] };
  }

  /** Refuses to change or remove what an alias elsewhere may stand for. */
  #refuseShared(item: Pair | Node | null, path: readonly string[]): void {
    const shared = this.#ties.sharedNode(item);
    if (shared === undefined) return;
    const { line } = positionAt(this.#text, shared?.range?.[0] ?? 0);
    throw new Problem(
      400,
      `'${path.join('.')}' shares its value through an anchor (line ${line}); edit the file by hand`,
    );
  }

  #splice(startOffset: number, endOffset: number, text: string): void {
    this.#splices.push({ startOffset, endOffset, text });
  }
}

function isBlockCollection(node: Node | null): boolean {
  return isCollection(node) && node.flow !== true;
}

/**
 * Refuses to replace a node that has a tag beside its anchor, and an empty value that is not right behind its anchor.
 */
function refuseMarked(node: Node | null, replaced: readonly [number, number] | null, path: readonly string[]): void {
  if (!hasAnchor(node)) return;
  const { tag } = node as { readonly tag?: string };
  if (tag !== undefined || replaced === null) throw notSafe(path);
}

/**
 * The refusal to remove a member that has no pair of its name: a merge brings it, or its key is a collection or alias.
 */
function unpaired({ items }: YAMLMap, path: readonly string[]): Problem {
  if (items.some(({ key }) => !isScalar(key))) return notSafe(path);
  const what = 'is brought by a merge key (<<), so that it cannot go alone';
  return new Problem(400, `'${path.join('.')}' ${what}; give it another value, or edit the file by hand`);
}

function notSafe(path: readonly string[]): Problem {
  return new Problem(400, `'${path.join('.')}' cannot be changed safely; edit the file by hand`);
}
