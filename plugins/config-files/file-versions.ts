// Keeps services' files as they were before each change, in a directory for each service, so that no service pushes out
// the versions of another.
import path from 'node:path';
import { type NamedBlock, Problem } from '#core';
import { removeTemporaryFilesIn, writeFileIn } from '#kit/atomic-write';
import { besideName } from '#kit/beside-name';
import { recordedOwner, recordOwner } from '#kit/directory-owners';
import { reasonText } from '#kit/error-text';
import { GuardedDirectory } from '#kit/guarded-directory';
import { ownPlaces } from '#kit/service-directory';

const MAX_VERSIONS = 5;
const MAKING = { mode: 0o700 };

export class FileVersions {
  readonly #directory: string;
  readonly #blocks: () => readonly NamedBlock[];

  constructor(directory: string, blocks: () => readonly NamedBlock[]) {
    this.#directory = directory;
    this.#blocks = blocks;
  }

  /**
   * Saves the text as a version and deletes all but the newest of that file; the time in their names gives their order.
   * Throws a Problem 503 where it cannot be saved.
   */
  async keep(processName: string, name: string, text: string): Promise<void> {
    try {
      const directory = await this.#directoryOf(processName);
      await save(directory, name, text).finally(() => directory.close());
    } catch (error) {
      const reason = error instanceof Problem ? error.message : `${reasonText(error)}; mend that, and save again`;
      const detail = `The file stays as it was, because ${this.#directory} cannot take its backup: ${reason}`;
      throw new Problem(503, detail, { cause: error });
    }
  }

  /**
   * Named after the slug for the service that owns the slug's directory, else after the slug and a digest of the whole
   * name.
   */
  async #directoryOf(processName: string): Promise<GuardedDirectory> {
    const slug = hyphenated(processName);
    const { usual, alone } = ownPlaces(this.#directory, slug, processName);
    const all = await GuardedDirectory.open(this.#directory, MAKING);
    try {
      const hasOther = usual === null || (await all.stat(path.basename(alone))) !== null;
      const place = hasOther || !(await this.#owns(all, slug, processName)) ? alone : usual;
      return await all.enter(path.basename(place), MAKING);
    } finally {
      all.close();
    }
  }

  /**
   * Whether the slug's directory is the service's. Without a recorded owner it may hold versions of all services with
   * that slug, so it becomes this one's only while no other service has the slug.
   */
  async #owns(all: GuardedDirectory, slug: string, processName: string): Promise<boolean> {
    const owner = await recordedOwner(all, slug);
    if (owner !== null) return owner === processName;
    const sharing = this.#blocks().filter(block => hyphenated(block.processName) === slug);
    if (sharing.some(block => block.processName !== processName)) return false;
    await recordOwner(all, slug, processName);
    return true;
  }
}

async function save(directory: GuardedDirectory, name: string, text: string): Promise<void> {
  const begin = `${new Date().toISOString().replaceAll(/[:.]/g, '-')}-`;
  const end = besideName(name, begin.length);
  const version = `${begin}${end}`;
  const isOfFile = (found: string): boolean => found.length === version.length && found.endsWith(`-${end}`);
  // A host that was killed during an earlier save left its temporary file behind.
  await removeTemporaryFilesIn(directory, isOfFile);
  await writeFileIn(directory, version, Buffer.from(text), { mode: 0o600 });
  const versions = (await directory.names()).filter(isOfFile).sort();
  // A version later than the new one was named by a clock that was ahead, and is removed first.
  const ahead = versions.filter(found => found > version);
  const inOrder = [...ahead, ...versions.slice(0, versions.length - ahead.length)];
  for (const old of inOrder.slice(0, -MAX_VERSIONS)) await directory.remove(old);
}

function hyphenated(processName: string): string {
  return processName.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}
