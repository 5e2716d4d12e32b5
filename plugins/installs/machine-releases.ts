// The fetched releases of programs that are installed in the machine itself: the present one and the one before are
// kept, so that going back needs no network. Only the host can write there.
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { PrivateDirectory } from '#kit/private-directory';
import { RECORDS_DIRECTORY } from './folder-records.ts';

const PACKAGES = 'packages';
const DRAFT = 'draft-';
const DIGITS = 16;

export class MachineReleases {
  readonly #configDir: string;

  constructor(configDir: string) {
    this.#configDir = configDir;
  }

  /** Creates an empty folder and returns its absolute path. */
  async draft(): Promise<string> {
    return mkdtemp(path.join(await this.#place(), DRAFT));
  }

  /** Keeps a draft as the release of a version, in place of an earlier one. Resolves with its folder. */
  async keep(draft: string, configKey: string, version: string): Promise<string> {
    const kept = path.join(await this.#place(), nameOf(configKey, version));
    if (kept === draft) return kept;
    await remove(kept);
    await rename(draft, kept);
    return kept;
  }

  /** The folder of a version; null when it is not kept. */
  async find(configKey: string, version: string): Promise<string | null> {
    const kept = path.join(await this.#place(), nameOf(configKey, version));
    const found = await stat(kept).catch(() => null);
    return found === null ? null : kept;
  }

  async discard(draft: string): Promise<void> {
    await remove(draft);
  }

  /** Removes the kept releases of a config key except these versions. */
  async keepOnly(configKey: string, versions: readonly string[]): Promise<void> {
    const wanted = versions.map(version => nameOf(configKey, version));
    const start = `${configKey}-`;
    // The name of another key that begins in the same way is longer.
    const isOwn = (name: string): boolean => name.startsWith(start) && name.length === start.length + DIGITS;
    await this.#removeAll(name => isOwn(name) && !wanted.includes(name));
  }

  /** Removes drafts that an earlier host has left. To be called once, before anything else. */
  async removeDrafts(): Promise<void> {
    const directory = await PrivateDirectory.open(this.#configDir, [RECORDS_DIRECTORY, PACKAGES], { create: false });
    if (directory === null) return;
    await directory.close();
    await this.#removeAll(name => name.startsWith(DRAFT));
  }

  async #removeAll(isUnwanted: (name: string) => boolean): Promise<void> {
    const place = await this.#place();
    for (const name of await readdir(place)) if (isUnwanted(name)) await remove(path.join(place, name));
  }

  async #place(): Promise<string> {
    const directory = await PrivateDirectory.open(this.#configDir, [RECORDS_DIRECTORY, PACKAGES]);
    await directory.close();
    return directory.path;
  }
}

function nameOf(configKey: string, version: string): string {
  return `${configKey}-${createHash('sha256').update(version).digest('hex').slice(0, DIGITS)}`;
}

function remove(place: string): Promise<void> {
  return rm(place, { recursive: true, force: true });
}
