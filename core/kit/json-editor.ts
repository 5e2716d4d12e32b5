// Edits JSON, with or without comments: the ranges of changed values are replaced, every other byte is kept.
import { getNodeValue, type Node, type ParseError, parseTree } from 'jsonc-parser';
import { Problem } from '../contract/problem.ts';
import { BracketMembers, type Range } from './bracket-members.ts';
import { deepEqual } from './deep-equal.ts';
import { finiteData } from './finite-data.ts';
import { jsonFaultText } from './json-fault.ts';
import { matchItems, type Planned, planItems } from './matched-items.ts';
import { refuseCostlyJson } from './nesting.ts';
import { isObject } from './plain-object.ts';
import { positionAt } from './text-position.ts';
import { applySplices, type Splice } from './text-splice.ts';

type Values = Record<string, unknown>;
/** Whether members that are not wanted stay (`merge`) or go (`replace`). */
type Mode = 'merge' | 'replace';

interface PlannedItem {
  /** The text for the indentation of its line; null means that all is on one line. */
  readonly textFor: (indent: string | null) => string;
  /** The index that it had in the list so far. */
  readonly source?: number;
}

const PARSE_OPTIONS = { allowTrailingComma: true, disallowComments: false };
const BOM = '\uFEFF';
/** Deeper indentation is not imitated, because each new line would repeat it. */
const MAX_INDENT = 200;

/** The values of a text, without prototypes. Throws a Problem 422 with line and column unless it is one object. */
export function jsonValues(text: string): Values {
  return getNodeValue(parseRoot(removeBom(text))) as Values;
}

/**
 * Merges the wanted values into the text; `replace` also removes the members that are not wanted. `wanted` may be a
 * function of the present values, so that the text is parsed once. Throws a Problem 400 when a member that would change
 * stands twice, and 422 when the text is not valid.
 */
export function editJson(
  source: string,
  wanted: Values | ((present: Values) => Values),
  mode: Mode,
): { readonly text: string; readonly changed: number } {
  const text = removeBom(source);
  const root = parseRoot(text);
  const planner = new EditPlanner(text, root);
  if (typeof wanted === 'function') {
    const present = carriedValue(root) as Values;
    planner.plan(root, wanted(present), mode, [], present);
  } else planner.plan(root, wanted, mode, []);
  const mark = source.slice(0, source.length - text.length);
  return { text: mark + applySplices(text, planner.splices), changed: planner.changed };
}

/** Plans the splices that give the members of objects and lists their wanted values. */
class EditPlanner {
  readonly splices: Splice[] = [];
  changed = 0;
  readonly #text: string;
  readonly #indent: string;
  readonly #lineEnding: string;
  /** Whether the whole text is one line, and is to stay one. */
  readonly #isOneLine: boolean;
  readonly #lineStarts: readonly number[];

  constructor(text: string, root: Node) {
    this.#text = text;
    this.#indent = /\n([ \t]{1,16})"/.exec(text)?.[1] ?? '  ';
    this.#lineEnding = text.includes('\r\n') ? '\r\n' : '\n';
    this.#isOneLine = childrenOf(root).length > 0 && !text.trim().includes('\n');
    this.#lineStarts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
  }

  /**
   * Throws a Problem 400 when a member that would change stands twice in its object. `present` are the values of the
   * object where they are known: a member whose value is still the same object is skipped.
   */
  plan(object: Node, wanted: Values, mode: Mode, path: readonly string[], present: Values = {}): void {
    const byKey = groupByKey(childrenOf(object));
    const added: [string, unknown][] = [];
    for (const [key, value] of Object.entries(wanted)) {
      const before = Object.hasOwn(present, key) ? present[key] : undefined;
      if (before !== undefined && before === value) continue;
      const twins = byKey.get(key) ?? [];
      const node = twins.at(-1)?.children?.[1];
      if (node === undefined) {
        added.push([key, value]);
        continue;
      }
      const changedBefore = this.changed;
      this.#planValue(node, value, mode, [...path, key], before);
      if (this.changed > changedBefore) this.#refuseTwins(twins, [...path, key]);
    }
    this.#planMembers(object, added, key => mode === 'merge' || Object.hasOwn(wanted, key), path);
  }

  /** Adds members to an object, and removes those that are not kept. */
  #planMembers(
    object: Node,
    added: readonly [string, unknown][],
    isKept: (key: string) => boolean,
    path: readonly string[],
  ): void {
    const properties = childrenOf(object);
    const kept = [...properties.keys()].filter(index => isKept(keyOf(properties[index] as Node)));
    for (const [key, twins] of kept.length < properties.length ? groupByKey(properties) : [])
      if (!isKept(key)) this.#refuseTwins(twins, [...path, key]);
    const separator = this.#separatorOf(properties[kept.at(-1) ?? -1]);
    const items = added.map(([key, value]) => ({
      textFor: (indent: string | null) => `${JSON.stringify(key)}${separator}${this.#format(value, indent)}`,
    }));
    this.#restock(object, kept, items.length === 0 ? [] : [{ at: kept.at(-1) ?? -1, items }]);
    this.changed += added.length + properties.length - kept.length;
  }

  #planValue(node: Node, value: unknown, mode: Mode, path: readonly string[], before: unknown): void {
    if (node.type === 'object' && isObject(value)) this.plan(node, value, mode, path, isObject(before) ? before : {});
    else if (node.type === 'array' && Array.isArray(value)) this.#planList(node, value, path);
    else if (!deepEqual(carriedValue(node), value)) this.#replace(node, value);
  }

  /** Items that stay the same ones are changed where they are; others move with their text, come or go. */
  #planList(list: Node, wanted: readonly unknown[], path: readonly string[]): void {
    const nodes = childrenOf(list);
    const present = nodes.map(carriedValue);
    const matched = matchItems(present, wanted);
    const change = (source: number, value: unknown): void => {
      if (deepEqual(present[source], value)) return;
      this.#planValue(nodes[source] as Node, value, 'replace', [...path, String(source)], undefined);
    };
    const put = (value: unknown, source: number | undefined): PlannedItem =>
      source === undefined
        ? { textFor: indent => this.#format(value, indent) }
        : { source, textFor: this.#taken(nodes[source] as Node, () => change(source, value)) };
    const planned = planItems(wanted, matched, change, put);
    const { stays } = matched;
    this.#restock(list, stays, planned);
    if (stays.length < nodes.length || planned.length > 0) this.changed += 1;
  }

  /** The text of a node after the changes, which are not made where it stands. */
  #taken(node: Node, change: () => void): () => string {
    const count = this.splices.length;
    change();
    const own = this.splices.splice(count).map(splice => ({
      startOffset: splice.startOffset - node.offset,
      endOffset: splice.endOffset - node.offset,
      text: splice.text,
    }));
    const text = applySplices(this.#text.slice(node.offset, endOf(node)), own);
    return () => text;
  }

  #replace(node: Node, value: unknown): void {
    const text = this.#format(value, this.#isOneLine ? null : this.#indentAt(node.offset));
    this.splices.push({ startOffset: node.offset, endOffset: endOf(node), text });
    this.changed += 1;
  }

  /**
   * Removes the members that are not kept, and puts others between the kept ones, in the style of their neighbours.
   */
  #restock(node: Node, kept: readonly number[], planned: readonly Planned<PlannedItem>[]): void {
    const children = childrenOf(node);
    const range = { startOffset: node.offset + 1, endOffset: endOf(node) - 1 };
    const ranges = children.map(child => ({ startOffset: child.offset, endOffset: endOf(child) }));
    const [first] = kept;
    if (first === undefined) {
      this.#fill(node, ranges, indent => planned.flatMap(({ items }) => items.map(item => item.textFor(indent))));
      return;
    }
    if (kept.length === children.length && planned.length === 0) return;
    const members = new BracketMembers(this.#text, range, ranges, '/');
    const additions = planned.map(({ at, items }) => {
      const neighbour = at >= 0 ? at : first;
      const { offset } = children[neighbour] as Node;
      const indent = this.#indentAt(offset);
      const isOnLine = members.beginsLine(neighbour) || items.some(({ source }) => members.needsLine(source));
      const written = items.map(({ source, textFor }) => members.asAddition(source, textFor(isOnLine ? indent : null)));
      const { offset: typical } = children[neighbour || 1] ?? (children[0] as Node);
      const blank = this.#text[typical - 1] === ' ' ? ' ' : '';
      return { at, items: written, lead: isOnLine ? this.#lineEnding + indent : blank };
    });
    this.splices.push(...members.restocked(kept, additions));
  }

  /** Gives new members to an object or a list that keeps none; comments that belong to no member stay. */
  #fill(node: Node, ranges: readonly Range[], textsFor: (indent: string | null) => string[]): void {
    const outer = this.#indentAt(node.offset);
    const indent = this.#isOneLine ? null : outer + this.#indent;
    const texts = textsFor(indent);
    if (ranges.length + texts.length === 0) return;
    const range = { startOffset: node.offset + 1, endOffset: endOf(node) - 1 };
    const members = new BracketMembers(this.#text, range, ranges, '/');
    const inner = this.#text.slice(range.startOffset, range.endOffset);
    const own = members.restocked([], []).map(({ startOffset, endOffset, text }) => ({
      startOffset: startOffset - range.startOffset,
      endOffset: endOffset - range.startOffset,
      text,
    }));
    const rest = applySplices(inner, own).trimEnd();
    const isOneLine = indent === null && !rest.includes('\n');
    const lead = isOneLine ? '' : this.#lineEnding + (indent ?? '');
    const list = texts.map(text => lead + text).join(isOneLine ? ', ' : ',');
    const isEmpty = rest.trim() === '' && texts.length === 0;
    const text = isEmpty ? '' : `${rest.trim() === '' ? '' : rest}${list}${isOneLine ? '' : this.#lineEnding + outer}`;
    if (text !== inner) this.splices.push({ ...range, text });
  }

  /** The text between the key and the value of a member, or `: ` where that text is unusual. */
  #separatorOf(member: Node | undefined): string {
    const [key, value] = member?.children ?? [];
    const between = key === undefined || value === undefined ? '' : this.#text.slice(endOf(key), value.offset);
    return /^\s?:[ \t]?$/.test(between) ? between : ': ';
  }

  /** `indent` is that of the line on which the value begins; null writes it on one line. */
  #format(value: unknown, indent: string | null): string {
    if (indent === null) return JSON.stringify(value);
    return JSON.stringify(value, null, this.#indent).replaceAll('\n', this.#lineEnding + indent);
  }

  /** The indentation of the line that holds the offset. */
  #indentAt(offset: number): string {
    let line = 0;
    for (let end = this.#lineStarts.length; end - line > 1; ) {
      const middle = (line + end) >>> 1;
      if ((this.#lineStarts[middle] ?? 0) <= offset) line = middle;
      else end = middle;
    }
    const start = this.#lineStarts[line] ?? 0;
    return /^[ \t]*/.exec(this.#text.slice(start, start + MAX_INDENT))?.[0] ?? '';
  }

  /** Programs use the last of two members with the same name, and people read the first one. */
  #refuseTwins([, second]: readonly Node[], path: readonly string[]): void {
    if (second === undefined) return;
    const { line } = positionAt(this.#text, second.offset);
    throw new Problem(400, `'${path.join('.')}' stands twice in the file, the second time at line ${line}; remove one`);
  }
}

function parseRoot(text: string): Node {
  refuseCostlyJson(text);
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, PARSE_OPTIONS);
  const [first] = errors;
  if (first !== undefined || root === undefined) {
    const { line, column } = positionAt(text, first?.offset ?? 0);
    const what = first === undefined ? 'it is empty' : jsonFaultText(first);
    throw new Problem(422, `The file is not valid JSON at line ${line}, column ${column}: ${what}`);
  }
  if (root.type !== 'object') throw new Problem(422, 'The file is not a JSON object at line 1, column 1');
  return root;
}

/** The value of a node as clients get it and may send it back. */
function carriedValue(node: Node): unknown {
  return finiteData(getNodeValue(node) as unknown);
}

function childrenOf(node: Node): readonly Node[] {
  return node.children ?? [];
}

function keyOf(property: Node): string {
  return String(property.children?.[0]?.value);
}

function groupByKey(properties: readonly Node[]): Map<string, Node[]> {
  const groups = new Map<string, Node[]>();
  for (const property of properties) {
    const key = keyOf(property);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [property]);
    else group.push(property);
  }
  return groups;
}

function endOf(node: Node): number {
  return node.offset + node.length;
}

function removeBom(text: string): string {
  return text.startsWith(BOM) ? text.slice(1) : text;
}
