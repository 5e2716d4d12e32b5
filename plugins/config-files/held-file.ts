// A service's file, held by the descriptor of its directory: a file or link that takes its place, or that of a
// directory above it, is neither read nor written.
import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import path from 'node:path';
import { Problem } from '#core';
import { writeFileIn } from '#kit/atomic-write';
import { reasonText } from '#kit/error-text';
import { restingVersion } from '#kit/file-version';
import { type FileOwner, GuardedDirectory } from '#kit/guarded-directory';

/** The most bytes of a file, and of the values that are sent for one. */
export const MAX_BYTES = 5 * 1024 * 1024;
/** The codes of the system when a part of a path has gone, or has become something else. */
const GONE = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ESTALE'];

/**
 * Calls `use` with the file at a real path, and closes its directory afterwards. Throws a Problem: 404 when the file is
 * gone, 403 or 409 when something that may not be opened has taken its place, 503 when it cannot be reached.
 */
export async function holdFile<Value>(file: string, use: (held: HeldFile) => Promise<Value>): Promise<Value> {
  try {
    return await GuardedDirectory.at(file, async (directory, name) => {
      if (path.join(directory.path, name) !== file) throw createChange(file);
      return use(new HeldFile(directory, name, await requireOwnFile(directory, name)));
    });
  } catch (error) {
    if (error instanceof Problem) throw error;
    const { code = '' } = error as NodeJS.ErrnoException;
    if (GONE.includes(code)) throw new Problem(404, 'The configuration file does not exist', { cause: error });
    if (code !== '') throw new Problem(503, `${file} cannot be opened: ${reasonText(error)}`, { cause: error });
    throw error;
  }
}

/**
 * Creates the file at a real path with its missing directories, or replaces whatever stands there without following it.
 */
export async function createFile(
  file: string,
  text: string,
  { mode, owner }: { readonly mode: number; readonly owner: FileOwner | null },
): Promise<void> {
  const create = async (directory: GuardedDirectory, name: string): Promise<void> => {
    if (path.join(directory.path, name) !== file) throw createChange(file);
    const entry = await directory.stat(name);
    if (entry !== null && !entry.isFile()) await directory.remove(name);
    await writeFileIn(directory, name, Buffer.from(text), { mode, owner });
  };
  await GuardedDirectory.at(file, create, { owner });
}

export class HeldFile {
  readonly #directory: GuardedDirectory;
  readonly #name: string;
  readonly #entry: Stats;
  /** The revision of what was read last. */
  #revision: string | undefined;

  constructor(directory: GuardedDirectory, name: string, entry: Stats) {
    this.#directory = directory;
    this.#name = name;
    this.#entry = entry;
  }

  /** A text that changes whenever the file does; null while its last change is too recent to tell. */
  get version(): string | null {
    return restingVersion(this.#entry);
  }

  /** Throws a Problem: 400 when it is no text that can be edited, 409 when another file has taken its place. */
  async read(): Promise<{ text: string; revision: string }> {
    const bytes = await this.#readBytes();
    if (bytes.includes(0)) throw new Problem(400, 'The file is binary or encrypted');
    const text = bytes.toString('utf8');
    if (!Buffer.from(text, 'utf8').equals(bytes)) throw new Problem(400, 'The file is not UTF-8 text');
    this.#revision = computeRevision(bytes);
    return { text, revision: this.#revision };
  }

  /**
   * Replaces the content, and keeps owner and mode. Throws a Problem: 400 and 413 when it could not be read again, 403
   * when it is no regular file any more, 409 when it was changed or replaced since it was read, 503 when it cannot be
   * written.
   */
  async write(text: string): Promise<{ revision: string }> {
    const bytes = Buffer.from(text);
    if (bytes.length > MAX_BYTES) throw new Problem(413, `The file would have more than ${MAX_BYTES} bytes`);
    if (bytes.includes(0)) throw new Problem(400, 'A file of text cannot hold NUL characters');
    if (bytes.toString('utf8') !== text) throw new Problem(400, 'A file of UTF-8 cannot hold half of a surrogate pair');
    await this.#requireUnchanged();
    try {
      // Checked once more, because a slow disk takes its time for the new content.
      await writeFileIn(this.#directory, this.#name, bytes, { verify: () => this.#requireUnchanged(), tidies: true });
    } catch (error) {
      if (error instanceof Problem) throw error;
      const detail = `The file stays as it was, because it cannot be written: ${reasonText(error)}`;
      throw new Problem(503, `${detail}; mend that, and save again`, { cause: error });
    }
    return { revision: computeRevision(bytes) };
  }

  async #requireUnchanged(): Promise<void> {
    const now = await requireOwnFile(this.#directory, this.#name);
    if (!isSame(now, this.#entry)) throw createReplacement(this.#name);
    // The content is compared and not its time: clocks of file systems are coarse, and a change of the mode alone loses
    // nothing.
    if (this.#revision !== undefined && computeRevision(await this.#readBytes()) !== this.#revision)
      throw new Problem(409, `${this.#name} was changed meanwhile; read it again`);
  }

  async #readBytes(): Promise<Buffer> {
    const handle = await this.#directory.openFile(this.#name, 'read');
    try {
      const entry = await handle.stat();
      if (!isSame(entry, this.#entry)) throw createReplacement(this.#name);
      if (entry.size > MAX_BYTES) throw new Problem(400, `The file has more than ${MAX_BYTES} bytes`);
      // One byte more tells whether the file grows while it is read.
      const bytes = Buffer.alloc(entry.size + 1);
      let length = 0;
      for (let read = -1; read !== 0 && length < bytes.length; length += read) {
        read = (await handle.read(bytes, length, bytes.length - length, length)).bytesRead;
      }
      if (length > entry.size) throw new Problem(409, 'The file is being written; try again');
      return bytes.subarray(0, length);
    } finally {
      await handle.close();
    }
  }
}

/** The entry of a regular file with one name; a hard link can give a file from anywhere a second one. */
async function requireOwnFile(directory: GuardedDirectory, name: string): Promise<Stats> {
  const entry = await directory.stat(name);
  if (entry === null) throw new Problem(404, 'The configuration file does not exist');
  if (!entry.isFile())
    throw new Problem(
      403,
      `${path.join(directory.path, name)} is no regular file; remove it, or name another config_file`,
    );
  if (entry.nlink > 1)
    throw new Problem(403, `${path.join(directory.path, name)} has a second hard link; replace it by a copy`);
  return entry;
}

function isSame(one: Stats, other: Stats): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

function createChange(file: string): Problem {
  return new Problem(403, `Another file has taken the place of ${path.basename(file)}; read it again`);
}

/** A 409 and not a 403: editors replace a file to save it, which is a change like any other. */
function createReplacement(name: string): Problem {
  return new Problem(409, `Another file has taken the place of ${name}; read it again`);
}

function computeRevision(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
