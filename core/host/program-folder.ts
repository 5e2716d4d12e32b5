// The folder that the program was loaded from. An upgrade may delete or replace it while the program runs; what is then
// at its path does not belong to this program.
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const PLUGINS = 'plugins';
/** The folder itself, and parts of it, because a deletion may begin with any of them. */
const PARTS = ['', 'core', PLUGINS];
/** Longer than the pause between two plugin folders when the whole program is deleted. */
const SETTLED_MS = 2_000;

export class ProgramFolder {
  readonly #path: string;
  readonly #identity: string;
  #plugins: readonly string[];

  /** Remembers which folder is at the path now. */
  constructor(folder: string) {
    this.#path = folder;
    this.#identity = identityOf(folder);
    this.#plugins = this.#pluginNames();
  }

  /** Whether the folder and its parts are still those that were there at first. */
  get isWhole(): boolean {
    return identityOf(this.#path) === this.#identity;
  }

  /** Resolves once no more plugin folders disappear: the first may be the beginning of a deletion of the program. */
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
