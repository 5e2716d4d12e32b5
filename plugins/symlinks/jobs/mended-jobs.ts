// The ended jobs of which nothing is left to mend, kept on the disk, so that not each start looks for it again.
import { z } from 'zod';
import type { Host } from '#core';
import { isTemporary, PrivateDirectory } from '#kit/private-directory';

/** The directory below the configuration directory. */
const DIRECTORY = ['data', 'symlinks'];
const FILE = 'mended.json';
const PLACE = [...DIRECTORY, FILE].join('/');
const MAX_BYTES = 1_048_576;

const idsSchema = z.lazy(() => z.array(z.string()));

export class MendedJobs {
  readonly #host: Host;
  #ids = new Set<string>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** Reads the file, and forgets jobs that are not among `recorded`. */
  async load(recorded: ReadonlySet<string>): Promise<void> {
    try {
      const directory = await PrivateDirectory.open(this.#host.paths.configDir, DIRECTORY, { create: false });
      try {
        const bytes = await directory?.read(FILE, MAX_BYTES);
        if (bytes == null) return;
        const ids = idsSchema.parse(JSON.parse(bytes.toString('utf8')));
        this.#ids = new Set(ids.filter(id => recorded.has(id)));
      } finally {
        await directory?.close();
      }
    } catch (error) {
      this.#host.log.warn(`${PLACE} cannot be used, so what failed symlink jobs have left is looked for again`, error);
    }
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Resolves when the job is noted on the disk, or could not be: then the next start mends it again. */
  async add(id: string): Promise<void> {
    this.#ids.add(id);
    try {
      const directory = await PrivateDirectory.open(this.#host.paths.configDir, DIRECTORY);
      try {
        // Those of a host that was killed.
        for (const name of await directory.names()) if (isTemporary(name)) await directory.remove(name);
        await directory.replace(FILE, JSON.stringify([...this.#ids]), { durable: false });
      } finally {
        await directory.close();
      }
    } catch (error) {
      this.#host.log.warn(`${PLACE} cannot be written, so the next start looks again for what is mended`, error);
    }
  }
}
