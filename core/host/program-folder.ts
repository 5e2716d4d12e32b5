// The folder that the program was loaded from. An upgrade may delete or replace it while the program runs; what stands
// at its path then is none of this program's parts.
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const PLUGINS = 'plugins';
/** Whichever is deleted first, with the folder itself. */
const PARTS = ['', 'core', PLUGINS];
/** Longer than a deletion of everything pauses between two folders. */
const SETTLED_MS = 2_000;

export class ProgramFolder {
  readonly #path: string;
  readonly #identity: string;
  #plugins: readonly string[];

  /** Of the folder as it is now. */
  constructor(folder: string) {
    this.#path = folder;
    this.#identity = identityOf(folder);
    this.#plugins = this.#pluginNames();
  }

  /** Whether the folder still is where and what it was. */
  get isWhole(): boolean {
    return identityOf(this.#path) === this.#identity;
  }

  /** Resolves once no further plugin goes: the first that does may be the beginning of the end of all. */
  async settled(): Promise<void> {
    let names = this.#pluginNames();
    while (this.#plugins.some(name => !names.includes(name))) {
      this.#plugins = names;
      await delay(SETTLED_MS, undefined, { ref: false });
      names = this.#pluginNames();
    }
    this.#plugins = names;
  }

  #pluginNames(): string[] {
    try {
      return readdirSync(path.join(this.#path, PLUGINS));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }
}

function identityOf(folder: string): string {
  const found = PARTS.map(part => statSync(path.join(folder, part), { bigint: true, throwIfNoEntry: false }));
  return found.map(entry => (entry === undefined ? 'none' : `${entry.dev}:${entry.ino}`)).join();
}
