// Where the keys, values and dashes of a parsed YAML document stand in its text.
import { isCollection, isPair, isScalar, isSeq, type Node, type Pair, type YAMLSeq } from 'yaml';
import type { Range } from './bracket-members.ts';

/** The most characters of a tag and the white space behind it. */
const MAX_TAG_LENGTH = 200;
const TAG = /(?<![^\s,[\]{}])!(?:<[^\s<>]+>|[^\s,[\]{}<>]+)\s+$/;
const COMMENT = /[ \t]+#[^\r\n]*/y;
/** The `?` before an explicit key. */
const KEY_SIGN = /(?<![^\s,{[])\?[ \t]{1,64}$/;
const MAX_KEY_SIGN = 66;
const ANCHOR = /[ \t]+&[^\s,[\]{}]+/y;
const BLOCK_HEADER = /[|>][-+\d]{0,2}/y;

export class YamlPlaces {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /**
   * As `findRange`, but a collection that ends with an empty value ends with the line of that value, not at the next
   * node.
   */
  of(node: Node | null): [number, number] | null {
    const range = findRange(node);
    const empty = range === null ? undefined : this.#emptyEnd(node);
    return range === null || empty === undefined ? range : [range[0], this.#lineEnd(empty)];
  }

  /** The range that a new value replaces, with the tag before it where that may name another type. */
  replaced(node: Node | null, value: unknown): [number, number] | null {
    const range = this.of(node) ?? this.#behindAnchor(node);
    const { tag } = (node ?? {}) as { readonly tag?: string };
    if (range === null || tag === undefined || (isScalar(node) && typeof node.value === typeof value)) return range;
    const before = this.#text.slice(Math.max(0, range[0] - MAX_TAG_LENGTH), range[0]);
    return [range[0] - (TAG.exec(before)?.[0].length ?? 0), range[1]];
  }

  /** The end of the anchor that is next on the line; undefined where there is none. */
  anchorEnd(offset: number): number | undefined {
    ANCHOR.lastIndex = offset;
    return ANCHOR.test(this.#text) ? ANCHOR.lastIndex : undefined;
  }

  /** Where the anchor right before a node begins; undefined where there is none. */
  anchorStart(node: Node | null): number | undefined {
    if (!hasAnchor(node)) return undefined;
    const end = node.range?.[0] ?? 0;
    const start = this.#text.lastIndexOf('&', end);
    return this.#text.slice(start, end).trimEnd() === `&${node.anchor}` ? start : undefined;
  }

  /** The empty range of a missing value that has an anchor. */
  #behindAnchor(node: Node | null): [number, number] | null {
    const start = this.anchorStart(node);
    if (!hasAnchor(node) || start === undefined) return null;
    const end = start + 1 + node.anchor.length;
    return [end, end];
  }

  /** The comment that ends the line, with the blanks before it; empty where something else follows. */
  commentAt(offset: number): string {
    COMMENT.lastIndex = offset;
    return COMMENT.exec(this.#text)?.[0] ?? '';
  }

  /**
   * For a block scalar (`|` or `>`), the comment on its first line, and the indentation of its lines unless its header
   * states one. undefined for any other node.
   */
  blockText(node: Node | null): { readonly comment: string; readonly indent: number | undefined } | undefined {
    if (!isScalar(node) || (node.type !== 'BLOCK_LITERAL' && node.type !== 'BLOCK_FOLDED')) return undefined;
    const [start, end] = node.range ?? [0, 0];
    BLOCK_HEADER.lastIndex = start;
    const header = BLOCK_HEADER.exec(this.#text)?.[0] ?? '';
    const lines = this.#text.slice(this.#lineEnd(start), end);
    const indent = /\d/.test(header) ? undefined : /^ *(?=[^\s])/m.exec(lines)?.[0].length;
    return { comment: this.commentAt(start + header.length), indent };
  }

  /** The offset of the empty value that a block collection ends with; undefined where it ends with none. */
  #emptyEnd(node: Node | null): number | undefined {
    if (!isCollection(node) || node.flow === true) return undefined;
    const last = node.items.at(-1);
    const value = (isPair(last) ? last.value : last) as Node | null;
    if (findRange(value) !== null) return this.#emptyEnd(value);
    if (isPair(last)) return this.emptyValue(last.key as Node)[1];
    return isSeq(node) ? this.ofItems(node).at(-1)?.endOffset : undefined;
  }

  ofPairs(pairs: readonly Pair[]): Range[] {
    return pairs.map(pair => {
      const key = pair.key as Node;
      const [, end] = this.of(pair.value as Node | null) ?? this.emptyValue(key);
      return { startOffset: this.#keyStart(key), endOffset: end };
    });
  }

  #keyStart({ range }: Node): number {
    const start = range?.[0] ?? 0;
    const before = this.#text.slice(Math.max(0, start - MAX_KEY_SIGN), start);
    return start - (KEY_SIGN.exec(before)?.[0].length ?? 0);
  }

  /** The items of a block sequence with their dashes, which stand below each other. */
  ofItems(seq: YAMLSeq): Range[] {
    const first = seq.range?.[0] ?? 0;
    const column = this.columnOf(first);
    return (seq.items as readonly (Node | null)[]).map((node, index) => {
      let dash = index === 0 ? first : this.#dashOf(node?.range?.[0] ?? 0, column);
      while (index > 0 && !this.#isDash(dash, column)) dash = this.#dashOf(dash - column - 1, column);
      return { startOffset: dash, endOffset: this.of(node)?.[1] ?? dash + 1 };
    });
  }

  #isDash(offset: number, column: number): boolean {
    return this.#text[offset] === '-' && this.#text.slice(offset - column, offset).trim() === '';
  }

  /** The offset at which an item's dash would stand on the line of this offset. */
  #dashOf(offset: number, column: number): number {
    return this.#text.lastIndexOf('\n', offset - 1) + 1 + column;
  }

  /** The empty range at which the missing value of `key:` would begin; in brackets a key may stand without a colon. */
  emptyValue(key: Node): [number, number] {
    const end = key.range?.[1] ?? 0;
    const colonEnd = this.colonEnd(key);
    const at = this.#text.slice(end, colonEnd).trim() === ':' ? colonEnd : end;
    return [at, at];
  }

  colonEnd(key: Node): number {
    return this.#text.indexOf(':', key.range?.[1] ?? 0) + 1;
  }

  /** After the line break that ends the line of this offset. */
  #lineEnd(offset: number): number {
    const lineBreak = this.#text.indexOf('\n', offset);
    return lineBreak < 0 ? this.#text.length : lineBreak + 1;
  }

  columnOf(offset: number): number {
    return offset - (this.#text.lastIndexOf('\n', offset - 1) + 1);
  }
}

/** The name of a member; undefined for the key that merges mappings, and for keys that are no scalars. */
export function readKey({ key }: Pair): string | undefined {
  if (!isScalar(key) || typeof key.value === 'symbol') return undefined;
  return String(key.value ?? '');
}

export function hasAnchor(node: Node | null): node is Node & { readonly anchor: string } {
  return node !== null && 'anchor' in node && node.anchor !== undefined;
}

/** The offsets of a value's first character and after its last one; null when the value is empty. */
export function findRange(node: Node | null): [number, number] | null {
  const range = node?.range;
  return range === undefined || range === null || (isScalar(node) && node.value === null && range[0] === range[1])
    ? null
    : [range[0], range[1]];
}
