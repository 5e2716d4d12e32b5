// The folder that the program was loaded from. An upgrade may delete or replace it while the program runs; what stands at
// its path then is none of this program's parts.
import { statSync } from 'node:fs';
import path from 'node:path';

/** Whichever is deleted first, with the folder itself. */
const PARTS = ['', 'core', 'plugins'];

export class ProgramFolder {
  readonly #path: string;
  readonly #identity: string;

  /** Of the folder as it is now. */
  constructor(folder: string) {
    this.#path = folder;
    this.#identity = identityOf(folder);
  }

  /** Whether the folder still is where and what it was. */
  get isWhole(): boolean {
    return identityOf(this.#path) === this.#identity;
  }
}

function identityOf(folder: string): string {
  const found = PARTS.map(part => statSync(path.join(folder, part), { bigint: true, throwIfNoEntry: false }));
  return found.map(entry => (entry === undefined ? 'none' : `${entry.dev}:${entry.ino}`)).join();
}
