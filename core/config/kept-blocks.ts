// Keeps what plugins have given to the blocks of running processes: it stays when its plugin is gone, so that such a
// process is still listed and can be stopped.
import type { ConfigObject, GivenBlock } from '../contract/config.ts';
import { isObject } from '../kit/plain-object.ts';
import { valueAt } from '../kit/value-at.ts';
import { type ConfigPath, merge } from './layers.ts';

type BlockInUse = Pick<GivenBlock, 'path' | 'isInFile'>;

/** A block that has its name only from a plugin that is gone. */
export interface KeptBlock {
  readonly processName: string;
  readonly path: ConfigPath;
  /** The plugin that gave the value and is gone. */
  readonly plugin: string;
  readonly value: unknown;
}

/** A plugin that gives members to blocks. */
export interface Giver {
  readonly plugin: string;
  /** What the plugin gives to the block at a path. */
  giftTo(path: ConfigPath): unknown;
}

export class KeptBlocks {
  readonly #inUse = new Map<string, BlockInUse>();
  /** What is kept of the blocks, by the names of their processes. */
  readonly #given = new Map<string, Pick<KeptBlock, 'plugin' | 'value'>>();

  get isEmpty(): boolean {
    return this.#given.size === 0;
  }

  /** Records that the process of the block runs. */
  use(processName: string, block: BlockInUse): void {
    this.#inUse.set(processName, block);
  }

  /** Records that the process has ended; whether anything was kept of its block. */
  release(processName: string): boolean {
    this.#inUse.delete(processName);
    return this.#given.delete(processName);
  }

  /** Records that a process of an earlier host runs, whose plugin is gone. */
  regain(processName: string, { plugin, path, isInFile }: GivenBlock, value: ConfigObject): void {
    this.#inUse.set(processName, { path, isInFile });
    this.#given.set(processName, { plugin, value });
  }

  /** The plugin that gave the block and is gone; undefined where nothing was kept of the block. */
  giverOf(processName: string): string | undefined {
    return this.#given.get(processName)?.plugin;
  }

  /** Keeps what a plugin that is being withdrawn has given to blocks in use. */
  keep({ plugin, giftTo }: Giver): void {
    for (const [processName, { path }] of this.#inUse) {
      const value = giftTo(path);
      if (!isObject(value)) continue;
      this.#given.set(processName, { plugin, value: merge(this.#given.get(processName)?.value, value) });
    }
  }

  /**
   * The kept blocks that have a name neither in the defaults nor in the file. One that was removed from the file is no
   * block any more.
   */
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
