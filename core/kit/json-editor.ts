// Edits JSON, with or without comments: the ranges of changed values are replaced, every other byte is kept.
import { getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { Problem } from '../contract/problem.ts';
import { deepEqual } from './deep-equal.ts';
import { refuseCostlyJson } from './nesting.ts';
import { isObject } from './plain-object.ts';
import { positionAt } from './text-position.ts';
import { applySplices, type Splice } from './text-splice.ts';

type Values = Record<string, unknown>;

const PARSE_OPTIONS = { allowTrailingComma: true, disallowComments: false };
const BOM = '\uFEFF';
/** Deeper indentation is not imitated, because each new line would repeat it. */
const MAX_INDENT = 200;

/** The values of a text, without prototypes. Throws a Problem 422 with line and column unless it is one object. */
export function jsonValues(text: string): Values {
  return getNodeValue(parseRoot(removeBom(text))) as Values;
}

/**
 * Merges the wanted values into the text; `replace` also removes the members that are not wanted. A function makes them
 * of the present ones. The text is parsed once. Throws a Problem 400 when a member that would change stands twice, and 422 when the text is not valid.
 */
export function editJson(
  source: string,
  wanted: Values | ((present: Values) => Values),
  mode: 'merge' | 'replace',
): { readonly text: string; readonly changed: number } {
  const text = removeBom(source);
  const root = parseRoot(text);
  const planner = new EditPlanner(text, root, mode);
  if (typeof wanted === 'function') {
    const present = getNodeValue(root) as Values;
    planner.plan(root, wanted(present), [], present);
  } else planner.plan(root, wanted, []);
  const mark = source.slice(0, source.length - text.length);
  return { text: mark + applySplices(text, planner.splices), changed: planner.changed };
}

/** Plans the splices that give the members of objects their wanted values. */
class EditPlanner {
  readonly splices: Splice[] = [];
  changed = 0;
  readonly #text: string;
  readonly #mode: 'merge' | 'replace';
  readonly #indent: string;
  readonly #lineEnding: string;
  /** Whether the whole text is one line, and is to stay one. */
  readonly #isOneLine: boolean;
  readonly #lineStarts: readonly number[];

  constructor(text: string, root: Node, mode: 'merge' | 'replace') {
    this.#text = text;
    this.#mode = mode;
    this.#indent = /\n([ \t]{1,16})"/.exec(text)?.[1] ?? '  ';
    this.#lineEnding = text.includes('\r\n') ? '\r\n' : '\n';
    this.#isOneLine = propertiesOf(root).length > 0 && !text.trim().includes('\n');
    this.#lineStarts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
  }

  /**
   * Throws a Problem 400 when a member that would change stands twice in its object. `present` are the values of the
   * object where they are known: what is still the same object needs no look.
   */
  plan(object: Node, wanted: Values, path: readonly string[], present: Values = {}): void {
    const properties = propertiesOf(object);
    const byKey = groupByKey(properties);
    const added: [string, unknown][] = [];
    for (const [key, value] of Object.entries(wanted)) {
      const before = Object.hasOwn(present, key) ? present[key] : undefined;
      if (before !== undefined && before === value) continue;
      const twins = byKey.get(key) ?? [];
      const node = twins.at(-1)?.children?.[1];
      const changedBefore = this.changed;
      if (node === undefined) added.push([key, value]);
      else if (node.type === 'object' && isObject(value))
        this.plan(node, value, [...path, key], isObject(before) ? before : {});
      else if (!deepEqual(getNodeValue(node), value)) this.#replace(node, value);
      if (this.changed > changedBefore) this.#refuseTwins(twins, [...path, key]);
    }
    const kept =
      this.#mode === 'merge' ? properties : properties.filter(property => Object.hasOwn(wanted, keyOf(property)));
    for (const [key, twins] of kept.length < properties.length ? byKey : [])
      if (!Object.hasOwn(wanted, key)) this.#refuseTwins(twins, [...path, key]);
    this.changed += added.length + properties.length - kept.length;
    const last = kept.at(-1);
    if (last === undefined) {
      if (added.length + properties.length > 0) this.#fill(object, added);
      return;
    }
    this.#remove(properties, new Set(kept));
    if (added.length > 0) this.#append(last, added);
  }

  #replace(node: Node, value: unknown): void {
    const text = this.#format(value, this.#isOneLine ? null : this.#indentAt(node.offset));
    this.splices.push({ startOffset: node.offset, endOffset: endOf(node), text });
    this.changed += 1;
  }

  /** Removes each run of properties together with the comma that only they need. */
  #remove(properties: readonly Node[], kept: ReadonlySet<Node>): void {
    let before: Node | undefined;
    let first: Node | undefined;
    for (const property of properties) {
      if (!kept.has(property)) first ??= property;
      else {
        if (first !== undefined) this.splices.push({ startOffset: first.offset, endOffset: property.offset, text: '' });
        first = undefined;
        before = property;
      }
    }
    const last = properties.at(-1);
    if (first === undefined || before === undefined || last === undefined) return;
    this.splices.push({ startOffset: endOf(before), endOffset: endOf(last), text: '' });
  }

  /** Adds members behind the last one, in its style. */
  #append(last: Node, added: readonly [string, unknown][]): void {
    const [key, value] = last.children ?? [];
    const between = key === undefined || value === undefined ? '' : this.#text.slice(endOf(key), value.offset);
    const separator = /^\s?:[ \t]?$/.test(between) ? between : ': ';
    const space = this.#spaceBefore(last.offset);
    const lineStart = space.lastIndexOf('\n') + 1;
    const indent = lineStart > 0 ? space.slice(lineStart) : null;
    const lead = indent === null ? space : this.#lineEnding + indent;
    const members = added.map(
      ([name, member]) => `,${lead}${JSON.stringify(name)}${separator}${this.#format(member, indent)}`,
    );
    this.splices.push({ startOffset: endOf(last), endOffset: endOf(last), text: members.join('') });
  }

  /** Gives an object new members that keeps none. */
  #fill(object: Node, added: readonly [string, unknown][]): void {
    const startOffset = object.offset + 1;
    const inner = this.#text.slice(startOffset, endOf(object) - 1);
    const outerIndent = this.#indentAt(object.offset);
    const indent = this.#isOneLine ? null : outerIndent + this.#indent;
    const lead = indent === null ? '' : this.#lineEnding + indent;
    const members = added.map(([name, member]) => `${lead}${JSON.stringify(name)}: ${this.#format(member, indent)}`);
    // Comments of an object without members stay.
    const keepsInner = propertiesOf(object).length === 0 && inner.trim() !== '';
    const isOpen = indent === null || added.length === 0 || (keepsInner && inner.includes('\n'));
    this.splices.push({
      startOffset,
      endOffset: keepsInner ? startOffset : startOffset + inner.length,
      text: members.join(indent === null ? ', ' : ',') + (isOpen ? '' : this.#lineEnding + outerIndent),
    });
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

  #spaceBefore(offset: number): string {
    let start = offset;
    while (start > 0 && ' \t\r\n'.includes(this.#text[start - 1] ?? '')) start -= 1;
    return this.#text.slice(Math.max(start, offset - MAX_INDENT), offset);
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
    const what = first === undefined ? 'it is empty' : printParseErrorCode(first.error);
    throw new Problem(422, `The file is not valid JSON: ${what} at line ${line}, column ${column}`);
  }
  if (root.type !== 'object') throw new Problem(422, 'The file is not a JSON object at line 1, column 1');
  return root;
}

function propertiesOf(object: Node): readonly Node[] {
  return object.children ?? [];
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
