// What plugins have given to the blocks of processes that run: it stays when its plugin goes, so that such a process is
// still listed and can be stopped.
import type { ConfigObject, GivenBlock } from '../contract/config.ts';
import { isObject } from '../kit/plain-object.ts';
import { valueAt } from '../kit/value-at.ts';
import { type ConfigPath, merge } from './layers.ts';

type BlockInUse = Pick<GivenBlock, 'path' | 'isInFile'>;

/** A block that is one only by what a plugin had given to it. */
export interface KeptBlock {
  readonly processName: string;
  readonly path: ConfigPath;
  /** Who has given it and is gone. */
  readonly plugin: string;
  readonly value: unknown;
}

/** A plugin as far as it makes blocks. */
export interface Giver {
  readonly plugin: string;
  /** What it gives to the block at a path. */
  giftTo(path: ConfigPath): unknown;
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

  /** A process of an earlier host runs, whose plugin is gone. */
  regain(processName: string, { plugin, path, isInFile }: GivenBlock, value: ConfigObject): void {
    this.#inUse.set(processName, { path, isInFile });
    this.#given.set(processName, { plugin, value });
  }

  /** Who had given it and is gone; undefined where nothing was kept of it. */
  giverOf(processName: string): string | undefined {
    return this.#given.get(processName)?.plugin;
  }

  /** The plugin goes. */
  keep({ plugin, giftTo }: Giver): void {
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
