// Plugins that ended the process: they are recorded while it exits, and not loaded again until their files change.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { readPrivate } from '../kit/trust.ts';
import type { PluginFolder } from './discover.ts';

const exitsSchema = z.record(z.string(), z.object({ digest: z.string(), code: z.number(), at: z.string() }));

type Exits = z.output<typeof exitsSchema>;

export class PluginExits {
  readonly #file: string;
  #known: Promise<Exits> | undefined;

  constructor(configDir: string) {
    this.#file = path.join(configDir, 'supervisor', 'plugin-exits.json');
  }

  /** Why the folder is not loaded; null when its plugin has not ended the process, or was changed since. */
  async refusalOf({ name, folder }: PluginFolder): Promise<string | null> {
    this.#known ??= this.#read();
    const known = await this.#known;
    const exit = Object.hasOwn(known, name) ? known[name] : undefined;
    if (exit === undefined || exit.digest !== digestOf(folder)) return null;
    return `it ended Stackwarden with process.exit(${exit.code}) at ${exit.at}; mend it, and it is loaded again when its files have changed`;
  }

  /** Synchronous, because nothing asynchronous runs any more while the process exits. Throws when it cannot write. */
  record({ name, folder }: PluginFolder, code: number): void {
    const exits = { ...this.#readNow(), [name]: { digest: digestOf(folder), code, at: new Date().toISOString() } };
    mkdirSync(path.dirname(this.#file), { recursive: true, mode: 0o700 });
    writeFileSync(`${this.#file}.new`, JSON.stringify(exits, null, 2), { mode: 0o600 });
    renameSync(`${this.#file}.new`, this.#file);
  }

  async #read(): Promise<Exits> {
    try {
      return exitsSchema.parse(JSON.parse(await readPrivate(this.#file)));
    } catch {
      // When the file is missing, or others may have written it, every plugin gets another chance.
      return {};
    }
  }

  #readNow(): Exits {
    try {
      return exitsSchema.parse(JSON.parse(readFileSync(this.#file, 'utf8')));
    } catch {
      return {};
    }
  }
}

/** A digest of all files of the plugin, without the packages that it uses. */
function digestOf(folder: string): string {
  const hash = createHash('sha256');
  const add = (directory: string): void => {
    const entries = readdirSync(directory, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      const place = path.join(directory, entry.name);
      if (entry.isDirectory() && entry.name !== 'node_modules') add(place);
      else if (entry.isFile()) hash.update(`${place}\0`).update(readFileSync(place)).update('\0');
    }
  };
  add(realpathSync(folder));
  return hash.digest('hex');
}
