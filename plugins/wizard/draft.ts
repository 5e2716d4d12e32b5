// The configuration that would result from a request, before any of it is saved.

import type { NamedBlock } from '#core';
import { findBlocks } from '#kit/named-blocks';
import { plainData } from '#kit/plain-data';
import { isObject } from '#kit/plain-object';
import { valueAt } from '#kit/value-at';

type Values = Record<string, unknown>;

export class Draft {
  #root: Values;
  #updates: Values = Object.create(null);

  constructor(root: Readonly<Values>) {
    this.#root = plainData(structuredClone(root) as Values);
  }

  /** What is to be merged into the configuration; empty when nothing was set or removed. */
  get updates(): Readonly<Values> {
    return this.#updates;
  }

  /** Runs `change`, and undoes everything that it has changed when it throws. */
  wholly<Made>(change: () => Made): Made {
    const copyOf = (values: Values): Values => plainData(structuredClone(values));
    const [root, updates] = [copyOf(this.#root), copyOf(this.#updates)];
    try {
      return change();
    } catch (error) {
      this.#root = root;
      this.#updates = updates;
      throw error;
    }
  }

  block(path: readonly string[]): Readonly<Values> | undefined {
    const found = valueAt(this.#root, path);
    return isObject(found) ? found : undefined;
  }

  /** The instances of a config key. */
  instances(key: string): NamedBlock[] {
    return Object.entries(this.block([key, 'instances']) ?? {}).flatMap(([name, block]) =>
      isObject(block)
        ? [
            {
              processName: String(block.process_name),
              path: [key, 'instances', name],
              configKey: key,
              key: name,
              isHost: false,
              block,
            },
          ]
        : [],
    );
  }

  processes(): NamedBlock[] {
    return findBlocks(this.#root);
  }

  /**
   * Sets keys of the block at a path, merging objects. Values that are equal already are recorded too, because they may
   * be in memory alone; the store leaves out those that the file has.
   */
  set(path: readonly string[], values: Values): void {
    for (const [key, value] of Object.entries(values)) {
      const at = [...path, key];
      if (isObject(value) && Object.keys(value).length > 0) this.set(at, value);
      else {
        put(this.#root, at, value);
        put(this.#updates, at, value);
      }
    }
  }

  remove(path: readonly string[]): void {
    const parent = this.block(path.slice(0, -1)) as Values | undefined;
    if (parent !== undefined) delete parent[path.at(-1) ?? ''];
    put(this.#updates, path, null);
  }
}

function put(root: Values, path: readonly string[], value: unknown): void {
  const [key = '', ...rest] = path;
  if (rest.length === 0) {
    root[key] = value;
    return;
  }
  const child = isObject(root[key]) ? (root[key] as Values) : (Object.create(null) as Values);
  root[key] = child;
  put(child, rest, value);
}
