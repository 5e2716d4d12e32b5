// The key by which each repository signs: the one that the template names, otherwise the one seen first. Lists that are
// signed by another key are refused until a user has removed the repository from the file.
import path from 'node:path';
import { z } from 'zod';
import { Problem } from '#core';
import { writeFileAtomic } from '#kit/atomic-write';
import { GuardedDirectory } from '#kit/guarded-directory';

/** Name of the file in the configuration directory. */
export const KEYS_FILE = 'apt_keys.json';
const MODE = 0o600;
const MAX_BYTES = 1024 * 1024;

const fingerprints = z.record(z.string(), z.string());
type Fingerprints = z.output<typeof fingerprints>;

export class KnownKeys {
  readonly #file: string;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(configDir: string) {
    this.#file = path.join(configDir, KEYS_FILE);
  }

  /**
   * Checks that the known key is among `signers`, the fingerprints of all keys that have signed the repository's lists.
   * `named` is the fingerprint in the template. Throws a Problem 409 that names the keys when it is not.
   */
  check(repository: string, signers: readonly string[], named: string | undefined): Promise<void> {
    const done = this.#turn.then(() => this.#check(repository, signers, named));
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #check(repository: string, signers: readonly string[], named: string | undefined): Promise<void> {
    const now = signers.join(' and ');
    if (named !== undefined) {
      if (signers.includes(named)) return;
      throw new Problem(
        409,
        `The lists of ${repository} are signed by the key ${now}, but its template names ${named}; nothing was installed, ask its publisher which is right, and correct "fingerprint" in the template`,
      );
    }
    // Read each time, because users may edit the file while the host runs.
    const known = await this.#read();
    const before = Object.hasOwn(known, repository) ? known[repository] : undefined;
    if (before === undefined) {
      const [first] = signers;
      if (first === undefined) throw new Error(`nobody has signed the lists of ${repository}`);
      const text = `${JSON.stringify({ ...known, [repository]: first }, null, 2)}\n`;
      await writeFileAtomic(this.#file, text, { mode: MODE, tidies: true });
    } else if (!signers.includes(before))
      throw new Problem(
        409,
        `The lists of ${repository} are signed by the key ${now}, and were signed by ${before} before; nothing was installed, ask its publisher whether that is right, remove the repository from ${this.#file} then, and try again`,
      );
  }

  async #read(): Promise<Fingerprints> {
    const bytes = await GuardedDirectory.at(this.#file, (directory, name) => directory.read(name, MAX_BYTES));
    if (bytes === null) return {};
    try {
      return fingerprints.parse(JSON.parse(bytes.toString()));
    } catch (error) {
      throw new Problem(
        409,
        `${this.#file} cannot be read, so it is not known who signs packages; mend it, or remove it to trust the present keys`,
        { cause: error },
      );
    }
  }
}
