// Edits YAML: the ranges of changed values are replaced, every other byte is kept. A text is parsed once for all edits.
import {
  Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  Scalar,
  stringify,
  visit,
  YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { Problem } from '../contract/problem.ts';
import { BlockMembers } from './block-members.ts';
import { BracketMembers, type Range } from './bracket-members.ts';
import { deepEqual } from './deep-equal.ts';
import { type MatchedItems, matchItems, matchPlaces } from './matched-items.ts';
import { isObject } from './plain-object.ts';
import { positionAt } from './text-position.ts';
import { applySplices, type Splice } from './text-splice.ts';
import { parseYaml, yamlData } from './yaml-document.ts';

type Values = Record<string, unknown>;
/** Whether members that are not wanted stay or go. */
type Mode = 'merge' | 'replace';

const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Texts that YAML 1.1 parsers read as booleans, null or numbers, and those that merge mappings, or begin or end a
 * document; they are quoted when they are written.
 */
const AMBIGUOUS = /^(y|n|yes|no|on|off|true|false|null|~|[-+]?0\d+|[-+]?\d[\d_]*(:[0-5]?\d)+(\.\d*)?|<<|---|\.\.\.)$/i;

/** Texts that need no quotes, unless they are ambiguous. */
const WORD = /^[a-z_][\w./-]*$/i;

/** The values of a text. Throws a Problem 422 with line and column unless it is one document that is a mapping. */
export function yamlValues(text: string): Values {
  return parseMapping(text).values;
}

/** Throws a Problem 400 for a change that cannot be made safely, and a Problem 422 when the text is not valid. */
export class YamlEditor {
  /** Without the mark, which would be counted as a column of the first line. */
  #text: string;
  #changed = 0;
  readonly #mark: string;
  readonly #lineEnding: string;

  constructor(text: string) {
    this.#mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
    this.#text = text.slice(this.#mark.length);
    this.#lineEnding = text.includes('\r\n') ? '\r\n' : '\n';
  }

  get text(): string {
    return this.#mark + this.#text;
  }

  /** Number of values that were changed so far. */
  get changed(): number {
    return this.#changed;
  }

  /**
   * Merges the wanted values into the document; `replace` also removes the members that are not wanted. A function
   * makes them of the present ones.
   */
  apply(wanted: Values | ((present: Values) => Values), mode: Mode): void {
    const { map, values } = parseMapping(this.#text);
    const splices: Splice[] = [];
    const plan = new EditPlan(this.#text, this.#lineEnding, splices);
    plan.members(map, values, typeof wanted === 'function' ? wanted(values) : wanted, mode, []);
    this.#text = applySplices(this.#text, splices);
    this.#changed += plan.changed;
  }
}

/** What is put behind the member with this index, or before the first one where it is -1. */
interface Planned {
  readonly at: number;
  readonly items: PlannedItem[];
}

interface PlannedItem {
  readonly value: unknown;
  /** The index that it had in the list so far. */
  readonly source?: number;
  /** The changes within it, which are made where it goes. */
  readonly changes?: readonly Splice[];
}

/** Collects the ranges of a text that are to be replaced, and how many values they change. */
class EditPlan {
  changed = 0;
  readonly #text: string;
  readonly #lineEnding: string;
  readonly #splices: Splice[];

  constructor(text: string, lineEnding: string, splices: Splice[]) {
    this.#text = text;
    this.#lineEnding = lineEnding;
    this.#splices = splices;
  }

  /** Plans the members of the mapping at `path`. `current` holds its values with aliases and merge keys resolved. */
  members(map: YAMLMap, current: Values, wanted: Values, mode: Mode, path: readonly string[]): void {
    const pairs = map.items;
    const byKey = new Map(pairs.map(pair => [readKey(pair), pair]));
    const added: [string, unknown][] = [];
    for (const [key, value] of Object.entries(wanted)) {
      const isPresent = Object.hasOwn(current, key);
      const before = current[key];
      if (isPresent && (before === value || deepEqual(before, value))) continue;
      const pair = byKey.get(key);
      if (pair === undefined) added.push([key, value]);
      else if (!this.#inside(pair.value, before, value, mode, [...path, key]))
        this.#replace(pair, value, [...path, key], map.flow === true);
    }
    const removed = mode === 'merge' ? [] : Object.keys(current).filter(key => !Object.hasOwn(wanted, key));
    for (const key of removed) this.#refuseShared(byKey.get(key), [...path, key]);
    if (added.length + removed.length === 0) return;
    this.changed += added.length + removed.length;
    const gone = new Set(removed);
    const kept = [...pairs.keys()].filter(index => !gone.has(readKey(pairs[index] as Pair) ?? ''));
    const at = kept.at(-1) ?? -1;
    const ranges = this.#pairRanges(pairs);
    if (map.flow === true) {
      const texts = added.map(([key, value]) => `${formatInline(key, true)}: ${formatInline(value, true)}`);
      const planned = texts.length === 0 ? [] : [{ at, items: texts.map(text => ({ text })) }];
      this.#inBrackets(map, ranges, kept, planned, path);
    } else {
      const textFor = (indent: number) => added.map(([key, value]) => this.#formatMember(key, value, indent)).join('');
      this.#onLines(ranges, kept, added.length === 0 ? [] : [{ at, textFor }], path);
    }
  }

  /** Plans what differs inside a collection that stays one; false when it has to be replaced as a whole. */
  #inside(node: unknown, before: unknown, value: unknown, mode: Mode, path: readonly string[]): boolean {
    if (isMap(node) && isObject(before) && isObject(value)) {
      if (mode === 'replace' && !Object.keys(before).some(key => Object.hasOwn(value, key))) return false;
      this.members(node, before, value, mode, path);
      return true;
    }
    if (!isSeq(node) || !Array.isArray(before) || !Array.isArray(value)) return false;
    if (before.length === 0 || value.length === 0) return false;
    return this.#items(node, before, value, path);
  }

  /** Items that stay the same ones are changed where they are; others move with their lines, come or go. False: none stays. */
  #items(seq: YAMLSeq, current: readonly unknown[], wanted: readonly unknown[], path: readonly string[]): boolean {
    const nodes = seq.items as readonly (Node | null)[];
    const ranges = seq.flow === true ? nodes.map(node => this.#rangeOf(node, path)) : this.#itemRanges(seq);
    const { sources, stays } = this.#matched(seq, ranges, current, wanted);
    if (stays.length === 0 && seq.flow !== true) return false;
    const change = (source: number, value: unknown): void => {
      if (deepEqual(current[source], value)) return;
      const at = [...path, String(source)];
      const node = nodes[source] ?? null;
      if (this.#inside(node, current[source], value, 'replace', at)) return;
      this.#refuseShared(node, at);
      this.#replaceItem(seq, node, ranges[source] as Range, value);
    };
    const isStaying = new Set(stays);
    const planned: Planned[] = [];
    let at = -1;
    for (const [index, value] of wanted.entries()) {
      const source = sources[index];
      if (source !== undefined && isStaying.has(source)) {
        change(source, value);
        at = source;
        continue;
      }
      if (planned.at(-1)?.at !== at) planned.push({ at, items: [] });
      const count = this.#splices.length;
      if (source !== undefined) change(source, value);
      const item = source === undefined ? { value } : { value, source, changes: this.#splices.splice(count) };
      planned.at(-1)?.items.push(item);
    }
    if (stays.length === nodes.length && planned.length === 0) return true;
    this.changed += 1;
    const isKept = new Set(sources);
    for (const [index, node] of nodes.entries()) if (!isKept.has(index)) this.#refuseShared(node, path);
    if (seq.flow === true) this.#moveInBrackets(seq, ranges, stays, planned, path);
    else this.#moveOnLines(ranges, stays, planned, path);
    return true;
  }

  /** An anchor has to stand before its aliases, and the first item behind a dash has no lines of its own. */
  #matched(
    seq: YAMLSeq,
    ranges: readonly Range[],
    current: readonly unknown[],
    wanted: readonly unknown[],
  ): MatchedItems {
    const matched = matchItems(current, wanted);
    const isStaying = new Set(matched.stays);
    const moved = matched.sources.filter(source => source !== undefined && !isStaying.has(source));
    const isTied = moved.some(source => isShared(seq.items[source as number] as Node | null));
    const isInline = seq.flow !== true && new BlockMembers(this.#text, ranges).beginsInline;
    const needsLines = moved.length > 0 || matched.sources[0] === undefined;
    return isTied || (isInline && needsLines) ? matchPlaces(current, wanted) : matched;
  }

  #moveInBrackets(
    seq: YAMLSeq,
    ranges: readonly Range[],
    kept: readonly number[],
    planned: readonly Planned[],
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
    planned: readonly Planned[],
    path: readonly string[],
  ): void {
    const members = new BlockMembers(this.#text, ranges);
    const texts = planned.map(({ at, items }) => ({
      at,
      textFor: (indent: number) =>
        items
          .map(({ value, source, changes = [] }) => {
            if (source === undefined) return this.#formatItem(value, indent);
            const lines = { startOffset: members.start(source), endOffset: members.end(source) };
            const text = this.#textOf(lines, changes);
            return text.endsWith('\n') ? text : text + this.#lineEnding;
          })
          .join(''),
    }));
    this.#onLines(ranges, kept, texts, path);
  }

  /** What stands in the range, after the changes within it. */
  #textOf({ startOffset, endOffset }: Range, changes: readonly Splice[]): string {
    const inner = changes.map(change => ({
      startOffset: change.startOffset - startOffset,
      endOffset: change.endOffset - startOffset,
      text: change.text,
    }));
    return applySplices(this.#text.slice(startOffset, endOffset), inner);
  }

  #replaceItem(seq: YAMLSeq, node: Node | null, range: Range, value: unknown): void {
    this.changed += 1;
    const [start, end] = findRange(node) ?? [range.endOffset, range.endOffset];
    if (seq.flow === true || !(isCollection(node) || needsBlock(value))) {
      const lead = this.#text[start - 1] === '-' ? ' ' : '';
      this.#splice(start, end, lead + formatInline(value, seq.flow === true, isScalar(node) ? node : undefined));
      return;
    }
    const column = new BlockMembers(this.#text, [range]).column;
    const tail = this.#text[end - 1] === '\n' ? this.#lineEnding : '';
    this.#splice(range.startOffset, end, this.#formatItem(value, column).trim() + tail);
  }

  #replace(pair: Pair, value: unknown, path: readonly string[], isInBrackets: boolean): void {
    const node = pair.value as Node | null;
    const key = pair.key as Node;
    this.#refuseShared(node, path);
    const [start, end] = findRange(node) ?? this.#findEmptyRange(key);
    const isBlock = isCollection(node) && node.flow !== true;
    if (isBlock && needsBlock(value)) {
      // A block collection begins on a line of its own, after its indentation.
      const lineStart = this.#text.lastIndexOf('\n', start - 1) + 1;
      const indent = start - lineStart;
      const outer = this.#measureIndent(key.range?.[0] ?? 0);
      // Only a sequence may stand right below its key.
      const isDeep = indent > outer || Array.isArray(value);
      this.#splice(lineStart, end, this.#formatBlock(value, isDeep ? indent : outer + 2));
    } else {
      const from = isBlock ? this.#findColonEnd(key) : start;
      const lead = this.#text[from - 1] === ':' ? ' ' : '';
      const tail = this.#text.slice(from, end).endsWith('\n') ? this.#lineEnding : '';
      this.#splice(from, end, lead + formatInline(value, isInBrackets, isScalar(node) ? node : undefined) + tail);
    }
    this.changed += 1;
  }

  /** Takes members out of a collection in brackets, and puts others between those that stay. */
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
    // A tag or an anchor stands before what it belongs to.
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
      const indent = ' '.repeat(this.#measureIndent(ranges[neighbour]?.startOffset ?? 0));
      const isOnLine = members.beginsLine(neighbour) || items.some(({ source }) => members.needsLine(source));
      const written = items.map(({ source, text }) => members.asAddition(source, text));
      return { at, items: written, lead: isOnLine ? this.#lineEnding + indent : ' ' };
    });
    this.#splices.push(...members.restocked(kept, additions));
  }

  /** Takes members with lines of their own out, and puts others between those that stay. */
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
    this.#splices.push(...members.removals(kept));
    for (const { at, textFor } of planned) {
      if (at < 0 && members.beginsInline) throw notSafe(path);
      this.#insertLine(at < 0 ? members.start(kept[0] ?? 0) : members.end(at), textFor(members.column));
    }
  }

  #insertLine(offset: number, text: string): void {
    const isOpen = offset > 0 && this.#text[offset - 1] !== '\n';
    this.#splice(offset, offset, (isOpen ? this.#lineEnding : '') + text);
  }

  #pairRanges(pairs: readonly Pair[]): Range[] {
    return pairs.map(pair => {
      const key = pair.key as Node;
      const [, end] = findRange(pair.value as Node | null) ?? this.#findEmptyRange(key);
      return { startOffset: key.range?.[0] ?? 0, endOffset: end };
    });
  }

  #rangeOf(node: Node | null, path: readonly string[]): Range {
    const range = findRange(node);
    if (range === null || range === undefined) throw notSafe(path);
    return { startOffset: range[0], endOffset: range[1] };
  }

  /** The items of a block sequence with their dashes, which stand below each other. */
  #itemRanges(seq: YAMLSeq): Range[] {
    const first = seq.range?.[0] ?? 0;
    const column = this.#measureIndent(first);
    return (seq.items as readonly (Node | null)[]).map((node, index) => {
      let dash = index === 0 ? first : this.#dashOf(node?.range?.[0] ?? 0, column);
      while (this.#text[dash] !== '-') dash = this.#dashOf(dash - column - 1, column);
      return { startOffset: dash, endOffset: findRange(node)?.[1] ?? dash + 1 };
    });
  }

  /** Where the dash of an item would be, if it is on the line of this offset. */
  #dashOf(offset: number, column: number): number {
    return this.#text.lastIndexOf('\n', offset - 1) + 1 + column;
  }

  /** Refuses to change or remove what an alias elsewhere may stand for. */
  #refuseShared(item: Pair | Node | null | undefined, path: readonly string[]): void {
    if (item === undefined) throw notSafe(path);
    const node = (isPair(item) ? item.value : item) as Node | null;
    const isNamed = isPair(item) ? hasAnchor(item.key as Node) : isAlias(item);
    if (!isNamed && (node === null || !hasAnchor(node))) return;
    const { line } = positionAt(this.#text, node?.range?.[0] ?? 0);
    throw new Problem(
      400,
      `'${path.join('.')}' shares its value through an anchor (line ${line}); edit the file by hand`,
    );
  }

  /** The empty range at which the missing value of `key:` would begin; in brackets a key may stand without a colon. */
  #findEmptyRange(key: Node): [number, number] {
    const end = key.range?.[1] ?? 0;
    const colonEnd = this.#findColonEnd(key);
    const at = this.#text.slice(end, colonEnd).trim() === ':' ? colonEnd : end;
    return [at, at];
  }

  #findColonEnd(key: Node): number {
    return this.#text.indexOf(':', key.range?.[1] ?? 0) + 1;
  }

  /** The lines of a member that is added to a block mapping. */
  #formatMember(key: string, value: unknown, indent: number): string {
    const name = ' '.repeat(indent) + formatInline(key, false);
    return needsBlock(value)
      ? `${name}:${this.#lineEnding}${this.#formatBlock(value, indent + 2)}`
      : `${name}: ${formatInline(value, false)}${this.#lineEnding}`;
  }

  /** The lines of an item that is added to a block sequence. */
  #formatItem(value: unknown, indent: number): string {
    return needsBlock(value)
      ? this.#formatBlock([value], indent)
      : `${' '.repeat(indent)}- ${formatInline(value, false)}${this.#lineEnding}`;
  }

  #formatBlock(value: object, indent: number): string {
    const lines = formatCollection(value, 'any').split('\n');
    return lines.map(line => ' '.repeat(indent) + line + this.#lineEnding).join('');
  }

  #measureIndent(offset: number): number {
    return offset - (this.#text.lastIndexOf('\n', offset - 1) + 1);
  }

  #splice(startOffset: number, endOffset: number, text: string): void {
    this.#splices.push({ startOffset, endOffset, text });
  }
}

/** Whether an alias may stand for the node or for something in it. */
function hasAnchor(node: Node): boolean {
  let isFound = false;
  visit(node, {
    Node(_key, inner) {
      isFound ||= 'anchor' in inner && inner.anchor !== undefined;
    },
  });
  return isFound;
}

/** Whether an anchor or an alias is in it. */
function isShared(node: Node | null): boolean {
  if (node === null) return false;
  let isFound = hasAnchor(node);
  visit(node, {
    Alias() {
      isFound = true;
    },
  });
  return isFound;
}

function notSafe(path: readonly string[]): Problem {
  return new Problem(400, `'${path.join('.')}' cannot be changed safely; edit the file by hand`);
}

/** Throws a Problem 422 unless the text is one document that is a mapping. */
function parseMapping(text: string): { readonly map: YAMLMap; readonly values: Values } {
  const { document, error } = parseYaml(text, { merge: true });
  if (error !== undefined) {
    const { code, line, column } = error;
    throw new Problem(422, `The file is not valid YAML: ${code} at line ${line}, column ${column}`);
  }
  const { contents } = document;
  if (contents === null) return { map: new YAMLMap(), values: {} };
  if (!isMap(contents)) throw new Problem(422, 'The file is not a YAML mapping at line 1, column 1');
  return { map: contents, values: yamlData(document) as Values };
}

/** The name of a member; undefined for the key that merges mappings, and for keys that are no scalars. */
export function readKey({ key }: Pair): string | undefined {
  if (!isScalar(key) || typeof key.value === 'symbol') return undefined;
  return String(key.value ?? '');
}

/** The offsets of a value's first character and after its last one; null when the value is empty. */
function findRange(node: Node | null): [number, number] | null {
  const range = node?.range;
  return range === undefined || range === null || (isScalar(node) && node.value === null && range[0] === range[1])
    ? null
    : [range[0], range[1]];
}

/** The value as text for the line of its key. A scalar keeps its kind of quotes where the new value allows them. */
function formatInline(value: unknown, isInBrackets: boolean, before?: Scalar): string {
  if (typeof value === 'object' && value !== null) return formatCollection(value, 'flow');
  if ((before === undefined || before.type === 'PLAIN') && isPlainScalar(value)) return String(value);
  const scalar = new Scalar(value);
  if (typeof value === 'string') {
    const quotes = before?.type === 'QUOTE_SINGLE' || before?.type === 'QUOTE_DOUBLE' ? before.type : undefined;
    if (quotes !== undefined && !value.includes('\n')) scalar.type = quotes;
    else if (isInBrackets || needsQuotes(value) || value.includes('\n')) scalar.type = 'QUOTE_DOUBLE';
  }
  return stringify(scalar, { lineWidth: 0 }).trimEnd();
}

function formatCollection(value: object, collectionStyle: 'flow' | 'any'): string {
  const document = new Document(value);
  visit(document, {
    Scalar(_key, scalar) {
      if (typeof scalar.value === 'string' && needsQuotes(scalar.value)) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString({ collectionStyle, lineWidth: 0 }).trimEnd();
}

/** Whether parsers take the bare text for something else, or leave out what it begins or ends with. */
function needsQuotes(text: string): boolean {
  return AMBIGUOUS.test(text) || text.trim() !== text;
}

/** Spares the values that are the same in YAML as in text the cost of a document of their own. */
function isPlainScalar(value: unknown): boolean {
  if (typeof value === 'string') return WORD.test(value) && !AMBIGUOUS.test(value);
  return typeof value === 'boolean' || Number.isSafeInteger(value);
}

/** Whether the value is a collection that needs lines of its own. */
function needsBlock(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}
