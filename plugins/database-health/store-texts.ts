// Reads the texts of templates about databases: `{option}`, `{env.NAME}` and what other plugins give stand for values
// of the service's block.
import path from 'node:path';
import type { NamedBlock } from '#core';

type Values = Readonly<Record<string, unknown>>;

/** A value may itself name others, as variables do. */
const MAX_DEPTH = 3;

export class StoreTexts {
  readonly #block: Values;
  readonly #given: () => Values;

  /** `given` has the values of other plugins by name. */
  constructor({ block }: NamedBlock, given: () => Values) {
    this.#block = block;
    this.#given = given;
  }

  /** undefined when a name in it has no value, or a blank one. */
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

  /** An absolute path; a relative one lies in the service's directory. undefined when it names none. */
  place(text: string): string | undefined {
    const filled = this.fill(text)?.replace(/^sqlite:\/\//, '');
    if (filled === undefined || filled === '' || /:\/\/|[\n\0]/.test(filled)) return undefined;
    const directory = this.#block.config_dir;
    return path.resolve(typeof directory === 'string' ? directory : '/', filled);
  }

  /** Whether an option is set and not false, or `<option>=<text>`: whether it begins with the text, ignoring case. */
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
