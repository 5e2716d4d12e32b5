// Where the keys, values and dashes of a parsed YAML document stand in its text.
import { isScalar, type Node, type Pair, type YAMLSeq } from 'yaml';
import type { Range } from './bracket-members.ts';

export class YamlPlaces {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  ofPairs(pairs: readonly Pair[]): Range[] {
    return pairs.map(pair => {
      const key = pair.key as Node;
      const [, end] = findRange(pair.value as Node | null) ?? this.emptyValue(key);
      return { startOffset: key.range?.[0] ?? 0, endOffset: end };
    });
  }

  /** The items of a block sequence with their dashes, which stand below each other. */
  ofItems(seq: YAMLSeq): Range[] {
    const first = seq.range?.[0] ?? 0;
    const column = this.columnOf(first);
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

  columnOf(offset: number): number {
    return offset - (this.#text.lastIndexOf('\n', offset - 1) + 1);
  }
}

/** The name of a member; undefined for the key that merges mappings, and for keys that are no scalars. */
export function readKey({ key }: Pair): string | undefined {
  if (!isScalar(key) || typeof key.value === 'symbol') return undefined;
  return String(key.value ?? '');
}

/** The offsets of a value's first character and after its last one; null when the value is empty. */
export function findRange(node: Node | null): [number, number] | null {
  const range = node?.range;
  return range === undefined || range === null || (isScalar(node) && node.value === null && range[0] === range[1])
    ? null
    : [range[0], range[1]];
}
