// What plugins have given to the blocks of processes that run: it stays when its plugin goes, so that such a process is
// still listed and can be stopped.
import { isObject } from '../kit/plain-object.ts';
import { valueAt } from '../kit/value-at.ts';
import { type ConfigPath, merge } from './layers.ts';

interface BlockInUse {
  readonly path: ConfigPath;
  /** Whether the file holds anything at the path. */
  readonly isInFile: boolean;
}

/** A block that is one only by what a plugin had given to it. */
export interface KeptBlock {
  readonly processName: string;
  readonly path: ConfigPath;
  /** Who has given it and is gone. */
  readonly plugin: string;
  readonly value: unknown;
}

export class KeptBlocks {
  readonly #inUse = new Map<string, BlockInUse>();
  /** By the names of their processes. */
  readonly #given = new Map<string, Pick<KeptBlock, 'plugin' | 'value'>>();

  get isEmpty(): boolean {
    return this.#given.size === 0;
  }

  /** From now on the process of the block runs. */
  use(processName: string, block: BlockInUse): void {
    this.#inUse.set(processName, block);
  }

  /** The process has ended. Says whether anything was kept of its block. */
  release(processName: string): boolean {
    this.#inUse.delete(processName);
    return this.#given.delete(processName);
  }

  /** The plugin goes. `giftTo` is what it gives to the block at a path. */
  keep(plugin: string, giftTo: (path: ConfigPath) => unknown): void {
    for (const [processName, { path }] of this.#inUse) {
      const value = giftTo(path);
      if (!isObject(value)) continue;
      this.#given.set(processName, { plugin, value: merge(this.#given.get(processName)?.value, value) });
    }
  }

  /** Those that would be no blocks with these defaults. One that was taken out of the file is none any more. */
  lackedBy(defaults: unknown, file: unknown): KeptBlock[] {
    return [...this.#inUse].flatMap(([processName, { path, isInFile }]) => {
      const given = this.#given.get(processName);
      if (given === undefined || (isInFile && valueAt(file, path) === undefined)) return [];
      const nameIn = (root: unknown): unknown => valueAt(root, [...path, 'process_name']);
      const isNamed = nameIn(defaults) !== undefined || nameIn(file) !== undefined;
      return isNamed || valueAt(given.value, ['process_name']) === undefined ? [] : [{ processName, path, ...given }];
    });
  }
}
