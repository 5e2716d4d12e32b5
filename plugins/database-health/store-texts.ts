// Fills in the texts of templates about databases: `{option}` and `{env.NAME}` stand for values of the service's block,
// other names for placeholders of other plugins.
import path from 'node:path';
import type { NamedBlock } from '#core';

type Values = Readonly<Record<string, unknown>>;

/** How deep values may be nested: a value may itself hold names in braces, as environment variables do. */
const MAX_DEPTH = 3;

export class StoreTexts {
  readonly #block: Values;
  readonly #given: () => Values;

  /** `given` returns the placeholders of other plugins, by name. */
  constructor({ block }: NamedBlock, given: () => Values) {
    this.#block = block;
    this.#given = given;
  }

  /** The text with its names replaced; undefined when one of them has no value or an empty one. */
  fill(text: string, depth = 0): string | undefined {
    let isWhole = depth < MAX_DEPTH;
    const filled = text.replaceAll(/\{([A-Za-z_][\w.]*)\}/g, (_whole, name: string) => {
      const value = isWhole ? this.#value(name) : undefined;
      const inner = typeof value === 'number' ? String(value) : typeof value === 'string' ? value : '';
      const told = inner === '' ? undefined : this.fill(inner, depth + 1);
      isWhole &&= told !== undefined;
      return told ?? '';
    });
    return isWhole ? filled : undefined;
  }

  /**
   * The text as an absolute path; a relative path starts at the service's directory. undefined when the text is no path
   * or a name in it has no value.
   */
  place(text: string): string | undefined {
    const filled = this.fill(text)?.replace(/^sqlite:\/\//, '');
    if (filled === undefined || filled === '' || /:\/\/|[\n\0]/.test(filled)) return undefined;
    const directory = this.#block.config_dir;
    return path.resolve(typeof directory === 'string' ? directory : '/', filled);
  }

  /**
   * For `<option>`: whether it is set and not false. For `<option>=<text>`: whether its value begins with the text,
   * which must be in lower case, ignoring case.
   */
  isSet(condition: string): boolean {
    const [name = '', beginning] = condition.split('=');
    const value = this.#value(name);
    if (beginning !== undefined)
      return String(value ?? '')
        .toLowerCase()
        .startsWith(beginning);
    return value !== undefined && value !== null && value !== false && value !== '';
  }

  #value(name: string): unknown {
    const own = name.split('.').reduce<unknown>(memberOf, this.#block);
    return own ?? memberOf(this.#given(), name);
  }
}

function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Values)[key];
}
