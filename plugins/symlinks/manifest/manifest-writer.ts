// Writes a snapshot as a temporary file and renames it when it is complete: readers see the old manifest or the new
// one, even after a crash. The old one is kept as `.<name>.bak`, with the name shortened if necessary.
import { type FileHandle, link } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Problem } from '#core';
import { besideName } from '#kit/beside-name';
import { type FileOwner, GuardedDirectory, giveFile } from '#kit/guarded-directory';
import { BlockWriter } from '../tasks/block-writer.ts';
import { recognise } from './manifest-reader.ts';

const FILE_MODE = 0o640;
const DIRECTORY_MODE = 0o750;
/** How many bytes a temporary name adds to the name at most, whatever the pid is. */
const SUFFIX_BYTES = 32;

export interface SnapshotHeader {
  readonly createdAt: string;
  readonly roots: readonly string[];
  readonly includeBroken: boolean;
  readonly targetsChecked: boolean;
  readonly processName: string | null;
}

export interface SnapshotPlace {
  readonly file: string;
  /** The owner of the file and of directories that are created for it; null keeps them the host's. */
  readonly owner: FileOwner | null;
  /** Whether a manifest that has entries may be replaced by one that has none. */
  readonly allowEmpty: boolean;
}

export class SnapshotWriter {
  readonly #place: SnapshotPlace;
  readonly #directory: GuardedDirectory;
  readonly #handle: FileHandle;
  readonly #temporary: string;
  readonly #writer: BlockWriter;
  #isEmpty = true;

  private constructor(
    place: SnapshotPlace,
    { directory, handle, temporary }: { directory: GuardedDirectory; handle: FileHandle; temporary: string },
    header: SnapshotHeader,
  ) {
    this.#place = place;
    this.#directory = directory;
    this.#handle = handle;
    this.#temporary = temporary;
    this.#writer = new BlockWriter(handle.fd, place.file);
    this.#writer.write(Buffer.from(headOf(header)));
  }

  /** Throws a Problem 400 when the place contains something other than a manifest. */
  static async begin(place: SnapshotPlace, header: SnapshotHeader): Promise<SnapshotWriter> {
    const making = { mode: DIRECTORY_MODE, owner: place.owner };
    const directory = await GuardedDirectory.open(path.dirname(place.file), making);
    try {
      const name = path.basename(place.file);
      await whatStandsAt(directory, name);
      await removeLeftovers(directory, name);
      const temporary = `.${besideName(name, SUFFIX_BYTES)}.${process.pid}.tmp`;
      const handle = await directory.openFile(temporary, 'create', FILE_MODE);
      await handle.chmod(FILE_MODE);
      await giveFile(handle, place.owner, { isNew: true });
      return new SnapshotWriter(place, { directory, handle, temporary }, header);
    } catch (error) {
      directory.close();
      throw error;
    }
  }

  /** Appends bytes that `entryLinesIn` has made, of one or several entries. Throws a Problem when the disk is full. */
  append(lines: Uint8Array): void {
    if (lines.length === 0) return;
    this.#writer.write(this.#isEmpty ? lines.subarray(1) : lines);
    this.#isEmpty = false;
  }

  /** Puts the manifest in its place. Throws a Problem 409 when it has no entries and would replace one that has. */
  async finish(): Promise<void> {
    const name = path.basename(this.#place.file);
    this.#writer.write(Buffer.from('\n]}\n'));
    this.#writer.flush();
    await this.#handle.sync();
    const present = await whatStandsAt(this.#directory, name);
    if (present === 'filled' && this.#isEmpty && !this.#place.allowEmpty) {
      throw new Problem(
        409,
        `No link was found, and ${this.#place.file} has entries, so it is kept; look whether the roots are mounted, ` +
          'or send allow_empty',
      );
    }
    if (present !== 'nothing') await keepCopy(this.#directory, name, this.#place.owner);
    await this.#directory.rename(this.#temporary, name);
    await this.#directory.sync();
  }

  /** Ends the writing. Without a completed `finish`, the place stays as it was. */
  async close(): Promise<void> {
    try {
      await this.#handle.close();
      await this.#directory.remove(this.#temporary);
    } finally {
      this.#directory.close();
    }
  }
}

function headOf({ createdAt, roots, includeBroken, targetsChecked, processName }: SnapshotHeader): string {
  const header = JSON.stringify({
    manifest_type: 'symlink_snapshot',
    created_at: createdAt,
    roots,
    include_broken: includeBroken,
    targets_checked: targetsChecked,
    process_name: processName,
  });
  return `${header.slice(0, -1)},"entries":[`;
}

async function whatStandsAt(directory: GuardedDirectory, name: string): Promise<'nothing' | 'empty' | 'filled'> {
  const entry = await directory.stat(name);
  if (entry === null) return 'nothing';
  const place = path.join(directory.path, name);
  const refusal = new Problem(400, `${place} is no manifest and is kept; choose another backup_path`);
  if (!entry.isFile()) throw refusal;
  const handle = await directory.openFile(name, 'read');
  try {
    const present = recognise(handle.fd);
    if (present === 'foreign') throw refusal;
    return present;
  } finally {
    await handle.close();
  }
}

/** Keeps the file under a second name: as a hard link, or as a copy where the file system has no hard links. */
async function keepCopy(directory: GuardedDirectory, name: string, owner: FileOwner | null): Promise<void> {
  const kept = `.${besideName(name, SUFFIX_BYTES)}.bak`;
  await directory.remove(kept);
  const at = (file: string) => `/proc/self/fd/${directory.descriptor}/${file}`;
  try {
    await link(at(name), at(kept));
  } catch {
    const from = await directory.openFile(name, 'read');
    const to = await directory.openFile(kept, 'create', FILE_MODE);
    await giveFile(to, owner, { isNew: true });
    await pipeline(from.createReadStream(), to.createWriteStream());
  }
}

/** Removes temporary files of this manifest whose writers have ended. */
async function removeLeftovers(directory: GuardedDirectory, name: string): Promise<void> {
  const begin = `.${besideName(name, SUFFIX_BYTES)}.`;
  for (const other of await directory.names()) {
    if (!other.startsWith(begin) || !other.endsWith('.tmp')) continue;
    const pid = Number(other.slice(begin.length, -'.tmp'.length));
    if (Number.isInteger(pid) && !isAlive(pid)) await directory.remove(other);
  }
}

function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
