// Replaces the content of a file as a whole: readers, also after a crash, see either the old content or the new.
import { randomBytes } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { Problem } from '../contract/problem.ts';
import { besideName } from './beside-name.ts';
import { reasonText } from './error-text.ts';
import { type FileOwner, GuardedDirectory, giveFile, type Making } from './guarded-directory.ts';

export interface AtomicWriteOptions {
  /** Permission bits of a file that is created; an existing file keeps its own. */
  readonly mode?: number;
  /** The user to whom a host that is root gives the file; without it an existing file keeps its owner. */
  readonly owner?: FileOwner | null;
  /** How missing directories are made; without it a missing directory is an error. */
  readonly making?: Making;
  /** Whether the data survives a loss of power, not only of the process. Default true. */
  readonly durable?: boolean;
  /** Whether the temporary files that a killed host has left of this file are removed first. Default false. */
  readonly tidies?: boolean;
  /** Is called right before the new content takes the place of the old one, which stays when this throws. */
  readonly verify?: () => Promise<void>;
}

/** The new content is in its place, but the sync of the directory failed. */
export class UnsyncedProblem extends Problem {
  constructor(file: string, cause: unknown) {
    super(503, `${file} is written, but a loss of power may take that back (${reasonText(cause)}); see to its disk`, {
      cause,
    });
  }
}

const TEMPORARY_SUFFIX = /\.\d+-[0-9a-f]{8}\.tmp$/;
/** The most bytes of such a suffix, whatever the process id. */
const SUFFIX_BYTES = 32;
const COPY_SUFFIX = '.bak';

/**
 * Writes a temporary file beside `file`, renames it over and syncs the directory. Where the file cannot be renamed
 * over, as a single bind-mounted file, it is copied to `<file>.bak` and rewritten in place. Links are followed as
 * `GuardedDirectory` does; a Problem 409 tells of those that are not. A FIFO or socket in the file's place is replaced.
 * After an `UnsyncedProblem` the file holds the new content, after any other failure the old one.
 */
export async function writeFileAtomic(
  file: string,
  data: string | Buffer,
  options: AtomicWriteOptions = {},
): Promise<void> {
  const bytes = Buffer.from(data);
  await GuardedDirectory.at(file, (directory, name) => writeFileIn(directory, name, bytes, options), options.making);
}

/** `writeFileAtomic` in a directory that is held already. */
export async function writeFileIn(
  directory: GuardedDirectory,
  name: string,
  bytes: Buffer,
  options: Omit<AtomicWriteOptions, 'making'> = {},
): Promise<void> {
  if (options.tidies === true) await removeTemporaryFilesIn(directory, name);
  try {
    await replace(directory, name, bytes, options);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EBUSY' && code !== 'EXDEV') throw error;
    return rewriteInPlace(directory, name, bytes, options.verify);
  }
  if (options.durable === false) return;
  await directory.sync().catch((error: unknown) => {
    throw new UnsyncedProblem(path.join(directory.path, name), error);
  });
}

/** Removes the temporary files that interrupted writes of `file` have left beside it. */
export async function removeTemporaryFiles(file: string): Promise<void> {
  await GuardedDirectory.at(file, removeTemporaryFilesIn);
}

/**
 * `removeTemporaryFiles` in a directory that is held already. `written` is the name of the file, or tells by a name
 * whether it is one of several files.
 */
export async function removeTemporaryFilesIn(
  directory: GuardedDirectory,
  written: string | ((name: string) => boolean),
): Promise<void> {
  const isWritten =
    typeof written === 'string' ? (name: string) => name === besideName(written, SUFFIX_BYTES) : written;
  for (const name of await directory.names()) {
    const begin = name.replace(TEMPORARY_SUFFIX, '');
    if (begin !== name && isWritten(begin)) await directory.remove(name);
  }
}

async function replace(
  directory: GuardedDirectory,
  name: string,
  bytes: Buffer,
  { mode, owner, durable = true, verify }: AtomicWriteOptions,
): Promise<void> {
  const temporary = `${besideName(name, SUFFIX_BYTES)}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`;
  try {
    const handle = await directory.openFile(temporary, 'create', mode ?? 0o666);
    try {
      await takeAttributes(handle, directory, name);
      if (owner !== undefined) await giveFile(handle, owner, { isNew: true });
      // On a full disk one write may take only a part without an error; writeFile continues to the end.
      await handle.writeFile(bytes);
      if (durable) await handle.sync();
    } finally {
      await handle.close();
    }
    await verify?.();
    await directory.rename(temporary, name);
  } catch (error) {
    // The removal may fail for the same reason as the write, whose error counts.
    await directory.remove(temporary).catch(() => undefined);
    throw error;
  }
}

/** Gives the new file the owner and the permission bits of the one that it replaces. */
async function takeAttributes(handle: FileHandle, directory: GuardedDirectory, name: string): Promise<void> {
  const old = await directory.stat(name);
  if (old?.isSymbolicLink() === true)
    throw new Problem(409, `${path.join(directory.path, name)} is a link that others may have made; remove it`);
  if (old?.isFile() !== true) return;
  const own = await handle.stat();
  // The owner of a file with a second hard link may have no right to this one.
  if (old.nlink === 1 && (own.uid !== old.uid || own.gid !== old.gid)) {
    await handle.chown(old.uid, old.gid).catch((error: NodeJS.ErrnoException) => {
      // Only root may give a file away; the content matters more than its owner.
      if (error.code !== 'EPERM') throw error;
    });
  }
  // Never the bits by which a program takes the rights of its owner.
  await handle.chmod(old.mode & 0o777);
}

async function rewriteInPlace(
  directory: GuardedDirectory,
  name: string,
  bytes: Buffer,
  verify: AtomicWriteOptions['verify'],
): Promise<void> {
  const handle = await directory.openFile(name, 'update');
  try {
    const before = await handle.readFile();
    await replace(directory, `${besideName(name, COPY_SUFFIX.length)}${COPY_SUFFIX}`, before, { mode: 0o600 });
    await directory.sync();
    await verify?.();
    await overwrite(handle, bytes).catch(async (error: unknown) => {
      // The file still owns the blocks of its old content, so restoring it succeeds even on a full disk.
      await overwrite(handle, before);
      throw error;
    });
  } finally {
    await handle.close();
  }
}

async function overwrite(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await handle.write(bytes, done, bytes.length - done, done)).bytesWritten;
  }
  await handle.truncate(bytes.length);
  await handle.sync();
}
