// Replaces `{name}` in the texts of a template by values of other plugins, the service's block, other blocks or global
// keys.
import type { NamedBlock } from '#core';
import { placedValue } from '#kit/placed-value';
import type { PlaceholderValues } from '#kit/placeholder-values';
import { valueAt } from '#kit/value-at';

type Values = Readonly<Record<string, unknown>>;

export interface PlaceholderSource {
  readonly block: NamedBlock;
  readonly root: Values;
  /** Values by name, from other plugins. */
  readonly given: PlaceholderValues;
}

export class Placeholders {
  readonly #source: PlaceholderSource;

  constructor(source: PlaceholderSource) {
    this.#source = source;
  }

  /**
   * Replaces placeholders in a text. Values of other plugins take the form that the text asks for. Unknown names stay,
   * unless a plugin whose values could not be read may know one: a Problem 503 is thrown then.
   */
  fill(text: string): string {
    return text.replaceAll(/\{([A-Za-z_][\w.]*)\}/g, (whole, name: string, at: number) => {
      const value = this.#needed(name);
      if (!['string', 'number', 'boolean'].includes(typeof value)) return whole;
      const isGiven = Object.hasOwn(this.#source.given.values, name);
      return isGiven ? placedValue(String(value), text.slice(0, at), text.slice(at + whole.length)) : String(value);
    });
  }

  /**
   * Same as `fill` for every text of a tree. A text that is a single placeholder becomes its value; `{name:text}` stays
   * a text.
   */
  fillTree(tree: unknown): unknown {
    if (typeof tree === 'string') {
      const [, name, asText] = /^\{([A-Za-z_][\w.]*)(:text)?\}$/.exec(tree) ?? [];
      if (name === undefined) return this.fill(tree);
      const value = this.#needed(name) ?? '';
      return asText === undefined ? value : String(value);
    }
    if (Array.isArray(tree)) return tree.map(member => this.fillTree(member));
    if (typeof tree !== 'object' || tree === null) return tree;
    return Object.fromEntries(Object.entries(tree).map(([key, member]) => [key, this.fillTree(member)]));
  }

  /** Whether an option is set: `name` of the block, or `key.name` of another. */
  isSet(name: string): boolean {
    const value = this.value(name);
    return value !== undefined && value !== null && value !== false && value !== '';
  }

  #needed(name: string): unknown {
    const value = this.value(name);
    if (value === undefined) this.#source.given.refuse(name);
    return value;
  }

  value(name: string): unknown {
    const { block, root, given } = this.#source;
    if (Object.hasOwn(given.values, name)) return given.values[name];
    if (Object.hasOwn(block.block, name)) return block.block[name];
    const path = name.split('.');
    return valueAt(block.block, path) ?? valueAt(root, path);
  }
}
