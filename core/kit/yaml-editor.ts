// Edits YAML: the ranges of changed values are replaced, every other byte is kept.
import {
  isAlias,
  isCollection,
  isMap,
  isScalar,
  type Node,
  type Pair,
  parseDocument,
  Scalar,
  stringify,
  type YAMLMap,
} from 'yaml';
import { Problem } from '../contract/problem.ts';
import { deepEqual } from './deep-equal.ts';
import { isObject } from './plain-object.ts';
import { positionAt } from './text-position.ts';

type Values = Record<string, unknown>;

/** Texts that YAML 1.1 parsers read as booleans, null or numbers; they are quoted when they are written. */
const AMBIGUOUS = /^(y|n|yes|no|on|off|true|false|null|~|[-+]?0\d+|[-+]?\d[\d_]*(:[0-5]?\d)+(\.\d*)?)$/i;

/** The values of a text. Throws a Problem 422 with line and column unless it is one document that is a mapping. */
export function yamlValues(text: string): Values {
  return findValues(parseMapping(text));
}

/**
 * Applies changes one after the other to a text. Throws a Problem 400 for a change that cannot be made safely, and a
 * Problem 422 when the text is not valid.
 */
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

  /** Merges the wanted values into the document; `replace` also removes the members that are not wanted. */
  apply(wanted: Values, mode: 'merge' | 'replace'): void {
    this.#apply([], yamlValues(this.#text), wanted, mode);
  }

  /** Sets one value, and creates the mappings on the way to it. */
  set(path: readonly string[], value: unknown): void {
    const depth = path.findIndex((_key, at) => !isMap(this.#findNode(path.slice(0, at + 1))));
    const at = depth < 0 ? path.length - 1 : depth;
    const [parent, key = ''] = [path.slice(0, at), path[at]];
    const nested = path.slice(at + 1).reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
    this.#apply(
      parent,
      parent.reduce<unknown>((found, name) => (found as Values)[name], yamlValues(this.#text)) as Values,
      {
        [key]: nested,
      },
      'merge',
      'replace',
    );
  }

  /** Removes one member; does nothing when it is not there. */
  remove(path: readonly string[]): void {
    const key = path.at(-1) ?? '';
    const parent = path.slice(0, -1);
    if (parent.length === 0 || isMap(this.#findNode(parent))) this.#remove(parent, key);
  }

  #findNode(path: readonly string[]): unknown {
    let node: unknown = parseMapping(this.#text);
    for (const key of path) node = isMap(node) ? findPair(node, key)?.value : undefined;
    return node;
  }

  /**
   * Applies wanted values to the mapping at `path`. `current` holds its values with aliases and merge keys resolved;
   * `inner` is the mode for the mappings below it.
   */
  #apply(
    path: readonly string[],
    current: Values,
    wanted: Values,
    mode: 'merge' | 'replace',
    inner: 'merge' | 'replace' = mode,
  ): void {
    for (const [key, value] of Object.entries(wanted)) {
      const before = current[key];
      if (Object.hasOwn(current, key) && deepEqual(before, value)) continue;
      const pair = findPair(this.#findMapping(path), key);
      if (pair === undefined) this.#add(path, key, value);
      else if (isMap(pair.value) && isObject(before) && isObject(value))
        this.#apply([...path, key], before, value, inner);
      else this.#replace(pair, value, [...path, key]);
    }
    if (mode === 'merge') return;
    const present = this.#findMapping(path).items.map(readKey);
    for (const key of present) if (!Object.hasOwn(wanted, key)) this.#remove(path, key);
  }

  /** The mapping at a path of the current text. Throws a Problem 400 when something else stands there. */
  #findMapping(path: readonly string[]): YAMLMap {
    let map = parseMapping(this.#text);
    for (const key of path) {
      const value = findPair(map, key)?.value;
      if (!isMap(value)) throw new Problem(400, `'${path.join('.')}' is no mapping`);
      map = value;
    }
    return map;
  }

  #replace(pair: Pair, value: unknown, path: readonly string[]): void {
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
      this.#splice(from, end, lead + formatInline(value, isScalar(node) ? node : undefined) + tail);
    }
    this.#changed += 1;
  }

  #add(path: readonly string[], key: string, value: unknown): void {
    const map = this.#findMapping(path);
    const name = formatInline(key);
    const last = map.items.at(-1);
    if (map.flow === true || (last === undefined && path.length > 0)) {
      const [start = 0, end = 0] = map.range ?? [];
      const close = this.#text.lastIndexOf('}', end);
      if (close < start) throw new Problem(400, `'${path.join('.')}' cannot be added to; edit the file by hand`);
      const separator = last === undefined ? '' : ', ';
      this.#splice(close, close, `${separator}${name}: ${formatInline(value)}`);
    } else {
      const indent = last === undefined ? 0 : this.#measureIndent((last.key as Node).range?.[0] ?? 0);
      const text = needsBlock(value)
        ? `${name}:${this.#lineEnding}${this.#formatBlock(value, indent + 2)}`
        : `${name}: ${formatInline(value)}`;
      const at = last === undefined ? this.#text.length : this.#findPairEnd(last);
      const open = at > 0 && !this.#text.slice(0, at).endsWith('\n') ? this.#lineEnding : '';
      const line = `${open}${' '.repeat(indent)}${text}`;
      this.#splice(at, at, line.endsWith('\n') ? line : line + this.#lineEnding);
    }
    this.#changed += 1;
  }

  #remove(path: readonly string[], key: string): void {
    const map = this.#findMapping(path);
    const pair = findPair(map, key);
    if (pair === undefined) return;
    if (map.flow === true || map.items.length === 1) {
      throw new Problem(400, `'${[...path, key].join('.')}' cannot be removed safely; edit the file by hand`);
    }
    const start = this.#text.lastIndexOf('\n', ((pair.key as Node).range?.[0] ?? 0) - 1) + 1;
    this.#splice(start, this.#findPairEnd(pair), '');
    this.#changed += 1;
  }

  /** The offset after the last line of a pair. */
  #findPairEnd(pair: Pair): number {
    const [, end] = findRange(pair.value as Node | null) ?? this.#findEmptyRange(pair.key as Node);
    if (this.#text.slice(0, end).endsWith('\n')) return end;
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

  #formatBlock(value: unknown, indent: number): string {
    const lines = stringify(value, { lineWidth: 0 }).trimEnd().split('\n');
    return lines.map(line => ' '.repeat(indent) + line + this.#lineEnding).join('');
  }

  #measureIndent(offset: number): number {
    return offset - (this.#text.lastIndexOf('\n', offset - 1) + 1);
  }

  #splice(start: number, end: number, text: string): void {
    this.#text = this.#text.slice(0, start) + text + this.#text.slice(end);
  }
}

/** Throws a Problem 422 unless the text is one document that is a mapping. */
function parseMapping(text: string): YAMLMap {
  const document = parseDocument(text, { merge: true, uniqueKeys: true });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = error.linePos?.[0] ?? { line: 1, col: 1 };
    throw new Problem(422, `The file is not valid YAML: ${error.code} at line ${line}, column ${col}`);
  }
  const { contents } = document;
  if (contents === null) return parseDocument('{}').contents as YAMLMap;
  if (!isMap(contents)) throw new Problem(422, 'The file is not a YAML mapping at line 1, column 1');
  resolvedValues.set(contents, document.toJS({ maxAliasCount: 1_000 }) as Values);
  return contents;
}

/** The values of each parsed mapping, kept because only its document can resolve aliases. */
const resolvedValues = new WeakMap<object, Values>();

function findValues(map: YAMLMap): Values {
  return resolvedValues.get(map) ?? {};
}

function findPair(map: YAMLMap, key: string): Pair | undefined {
  return map.items.find(pair => readKey(pair) === key);
}

function readKey({ key }: Pair): string {
  return String(isScalar(key) ? key.value : key);
}

/** The offsets of a value's first character and after its last one; null when the value is empty. */
function findRange(node: Node | null): [number, number] | null {
  const range = node?.range;
  return range === undefined || range === null || (isScalar(node) && node.value === null && range[0] === range[1])
    ? null
    : [range[0], range[1]];
}

/** The value as text for the line of its key. A scalar keeps its kind of quotes where the new value allows them. */
function formatInline(value: unknown, before?: Scalar): string {
  if (typeof value === 'object' && value !== null) {
    return stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd();
  }
  const scalar = new Scalar(value);
  if (typeof value === 'string') {
    const quotes = before?.type === 'QUOTE_SINGLE' || before?.type === 'QUOTE_DOUBLE' ? before.type : undefined;
    if (quotes !== undefined && !value.includes('\n')) scalar.type = quotes;
    else if (AMBIGUOUS.test(value) || value.includes('\n')) scalar.type = 'QUOTE_DOUBLE';
  }
  return stringify(scalar, { lineWidth: 0 }).trimEnd();
}

/** Whether the value is a collection that needs lines of its own. */
function needsBlock(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}
