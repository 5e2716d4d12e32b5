// Edits YAML: the ranges of changed values are replaced, every other byte is kept. A text is parsed once for all edits.
import { isAlias, isCollection, isMap, isScalar, type Node, type Pair, Scalar, stringify, YAMLMap } from 'yaml';
import { Problem } from '../contract/problem.ts';
import { deepEqual } from './deep-equal.ts';
import { isObject } from './plain-object.ts';
import { positionAt } from './text-position.ts';
import { applySplices, type Splice } from './text-splice.ts';
import { parseYaml, yamlData } from './yaml-document.ts';

type Values = Record<string, unknown>;

/** Texts that YAML 1.1 parsers read as booleans, null or numbers; they are quoted when they are written. */
const AMBIGUOUS = /^(y|n|yes|no|on|off|true|false|null|~|[-+]?0\d+|[-+]?\d[\d_]*(:[0-5]?\d)+(\.\d*)?)$/i;

/** Texts that need no quotes, unless they are ambiguous. */
const WORD = /^[a-z_][\w./-]*$/i;

/** The values of a text. Throws a Problem 422 with line and column unless it is one document that is a mapping. */
export function yamlValues(text: string): Values {
  return parseMapping(text).values;
}

/** Throws a Problem 400 for a change that cannot be made safely, and a Problem 422 when the text is not valid. */
export class YamlEditor {
  #text: string;
  #changed = 0;
  readonly #lineEnding: string;

  constructor(text: string) {
    this.#text = text;
    this.#lineEnding = text.includes('\r\n') ? '\r\n' : '\n';
  }

  get text(): string {
    return this.#text;
  }

  /** Number of values that were changed so far. */
  get changed(): number {
    return this.#changed;
  }

  /**
   * Merges the wanted values into the document; `replace` also removes the members that are not wanted. A function
   * makes them of the present ones.
   */
  apply(wanted: Values | ((present: Values) => Values), mode: 'merge' | 'replace'): void {
    const { map, values } = parseMapping(this.#text);
    const splices: Splice[] = [];
    const plan = new EditPlan(this.#text, this.#lineEnding, mode, splices);
    plan.members(map, values, typeof wanted === 'function' ? wanted(values) : wanted, []);
    this.#text = applySplices(this.#text, splices);
    this.#changed += plan.changed;
  }
}

/** Collects the ranges of a text that are to be replaced, and how many values they change. */
class EditPlan {
  changed = 0;
  readonly #text: string;
  readonly #lineEnding: string;
  readonly #mode: 'merge' | 'replace';
  readonly #splices: Splice[];

  constructor(text: string, lineEnding: string, mode: 'merge' | 'replace', splices: Splice[]) {
    this.#text = text;
    this.#lineEnding = lineEnding;
    this.#mode = mode;
    this.#splices = splices;
  }

  /** Plans the members of the mapping at `path`. `current` holds its values with aliases and merge keys resolved. */
  members(map: YAMLMap, current: Values, wanted: Values, path: readonly string[]): void {
    const pairs = new Map<string, Pair>();
    for (const pair of map.items) {
      const key = readKey(pair);
      if (key !== undefined) pairs.set(key, pair);
    }
    const added: [string, unknown][] = [];
    for (const [key, value] of Object.entries(wanted)) {
      const isPresent = Object.hasOwn(current, key);
      const before = current[key];
      if (isPresent && (before === value || deepEqual(before, value))) continue;
      const pair = pairs.get(key);
      if (pair === undefined) added.push([key, value]);
      else if (isMap(pair.value) && isObject(before) && isObject(value))
        this.members(pair.value, before, value, [...path, key]);
      else this.#replace(pair, value, [...path, key], map.flow === true);
    }
    const removed = this.#mode === 'merge' ? [] : Object.keys(current).filter(key => !Object.hasOwn(wanted, key));
    this.#add(map, added, path);
    this.#remove(map, removed, pairs, added.length, path);
  }

  #replace(pair: Pair, value: unknown, path: readonly string[], isInBrackets: boolean): void {
    const node = pair.value as Node | null;
    const key = pair.key as Node;
    if (isAlias(node) || (node as { anchor?: string } | null)?.anchor !== undefined) {
      const { line } = positionAt(this.#text, key.range?.[0] ?? 0);
      throw new Problem(
        400,
        `'${path.join('.')}' shares its value through an anchor (line ${line}); edit the file by hand`,
      );
    }
    const [start, end] = findRange(node) ?? this.#findEmptyRange(key);
    const isBlock = isCollection(node) && node.flow !== true;
    if (isBlock && needsBlock(value)) {
      // A block collection begins on a line of its own, after its indentation.
      const lineStart = this.#text.lastIndexOf('\n', start - 1) + 1;
      this.#splice(lineStart, end, this.#formatBlock(value, start - lineStart));
    } else {
      const from = isBlock ? this.#findColonEnd(key) : start;
      const lead = this.#text[from - 1] === ':' ? ' ' : '';
      const tail = this.#text.slice(from, end).endsWith('\n') ? this.#lineEnding : '';
      this.#splice(from, end, lead + formatInline(value, isInBrackets, isScalar(node) ? node : undefined) + tail);
    }
    this.changed += 1;
  }

  #add(map: YAMLMap, added: readonly [string, unknown][], path: readonly string[]): void {
    if (added.length === 0) return;
    const last = map.items.at(-1);
    if (map.flow === true || (last === undefined && path.length > 0)) {
      const [start = 0, end = 0] = map.range ?? [];
      const close = this.#text.lastIndexOf('}', end);
      if (close < start) throw new Problem(400, `'${path.join('.')}' cannot be added to; edit the file by hand`);
      const members = added.map(([key, value]) => `${formatInline(key, true)}: ${formatInline(value, true)}`);
      const isOpen = last === undefined || /,\s*$/.test(this.#text.slice(Math.max(start, close - 100), close));
      this.#splice(close, close, (isOpen ? '' : ', ') + members.join(', '));
    } else {
      const indent = last === undefined ? 0 : this.#measureIndent((last.key as Node).range?.[0] ?? 0);
      const at = last === undefined ? this.#text.length : this.#findPairEnd(last);
      const open = at > 0 && this.#text[at - 1] !== '\n' ? this.#lineEnding : '';
      const lines = added.map(([key, value]) => this.#formatMember(key, value, indent));
      this.#splice(at, at, open + lines.join(''));
    }
    this.changed += added.length;
  }

  #remove(
    map: YAMLMap,
    removed: readonly string[],
    pairs: ReadonlyMap<string, Pair>,
    addedCount: number,
    path: readonly string[],
  ): void {
    for (const key of removed) {
      const pair = pairs.get(key);
      if (pair === undefined || map.flow === true || map.items.length + addedCount === removed.length) {
        throw new Problem(400, `'${[...path, key].join('.')}' cannot be removed safely; edit the file by hand`);
      }
      const start = this.#text.lastIndexOf('\n', ((pair.key as Node).range?.[0] ?? 0) - 1) + 1;
      this.#splice(start, this.#findPairEnd(pair), '');
    }
    this.changed += removed.length;
  }

  /** The offset after the last line of a pair. */
  #findPairEnd(pair: Pair): number {
    const [, end] = findRange(pair.value as Node | null) ?? this.#findEmptyRange(pair.key as Node);
    if (this.#text[end - 1] === '\n') return end;
    const newline = this.#text.indexOf('\n', end);
    return newline < 0 ? this.#text.length : newline + 1;
  }

  /** The empty range at which the missing value of `key:` would begin. */
  #findEmptyRange(key: Node): [number, number] {
    const at = this.#findColonEnd(key);
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

  #formatBlock(value: unknown, indent: number): string {
    const lines = stringify(value, { lineWidth: 0 }).trimEnd().split('\n');
    return lines.map(line => ' '.repeat(indent) + line + this.#lineEnding).join('');
  }

  #measureIndent(offset: number): number {
    return offset - (this.#text.lastIndexOf('\n', offset - 1) + 1);
  }

  #splice(startOffset: number, endOffset: number, text: string): void {
    this.#splices.push({ startOffset, endOffset, text });
  }
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
  if (typeof value === 'object' && value !== null) {
    return stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd();
  }
  if (before === undefined && isPlainScalar(value)) return String(value);
  const scalar = new Scalar(value);
  if (typeof value === 'string') {
    const quotes = before?.type === 'QUOTE_SINGLE' || before?.type === 'QUOTE_DOUBLE' ? before.type : undefined;
    if (quotes !== undefined && !value.includes('\n')) scalar.type = quotes;
    else if (isInBrackets || AMBIGUOUS.test(value) || value.includes('\n')) scalar.type = 'QUOTE_DOUBLE';
  }
  return stringify(scalar, { lineWidth: 0 }).trimEnd();
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
