// Replaces the content of a file as a whole: readers, also after a crash, see either the old content or the new.
import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';

export interface AtomicWriteOptions {
  /** Permission bits of a file that is created; an existing file keeps its own, and its owner. */
  readonly mode?: number;
  /** Whether the data survives a loss of power, not only of the process. Default true. */
  readonly durable?: boolean;
}

const TEMPORARY_SUFFIX = /^\.\d+-[0-9a-f]{8}\.tmp$/;

/**
 * Writes a temporary file beside `file`, renames it over and syncs the directory. Where the file cannot be renamed
 * over, as a single bind-mounted file, it is copied to `<file>.bak` and rewritten in place.
 */
export async function writeFileAtomic(
  file: string,
  data: string | Buffer,
  options: AtomicWriteOptions = {},
): Promise<void> {
  const target = await resolveLinks(file);
  try {
    await replace(target, Buffer.from(data), options);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EBUSY' && code !== 'EXDEV') throw error;
    await rewriteInPlace(target, Buffer.from(data));
  }
}

/** Removes the temporary files that interrupted writes of `file` have left beside it. */
export async function removeTemporaryFiles(file: string): Promise<void> {
  const target = await resolveLinks(file);
  const directory = path.dirname(target);
  const base = path.basename(target);
  for (const name of await readdir(directory)) {
    if (name.startsWith(base) && TEMPORARY_SUFFIX.test(name.slice(base.length)))
      await rm(path.join(directory, name), { force: true });
  }
}

async function replace(target: string, bytes: Buffer, { mode, durable = true }: AtomicWriteOptions): Promise<void> {
  const temporary = `${target}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`;
  try {
    const handle = await open(temporary, 'wx', mode);
    try {
      await keepAttributes(handle, target);
      // On a full disk one write may take only a part without an error; writeFile continues to the end.
      await handle.writeFile(bytes);
      if (durable) await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  if (durable) await syncDirectory(path.dirname(target));
}

async function keepAttributes(handle: FileHandle, target: string): Promise<void> {
  const old = await stat(target).catch(ignoreAbsent);
  if (old === undefined) return;
  const own = await handle.stat();
  if (own.uid !== old.uid || own.gid !== old.gid) {
    await handle.chown(old.uid, old.gid).catch((error: NodeJS.ErrnoException) => {
      // Only root may give a file away; the content matters more than its owner.
      if (error.code !== 'EPERM') throw error;
    });
  }
  await handle.chmod(old.mode & 0o7777);
}

async function rewriteInPlace(target: string, bytes: Buffer): Promise<void> {
  const before = await readFile(target);
  await replace(`${target}.bak`, before, { mode: 0o600 });
  const handle = await open(target, 'r+');
  try {
    await overwrite(handle, bytes);
  } catch (error) {
    // The file still owns the blocks of its old content, so restoring it succeeds even on a full disk.
    await overwrite(handle, before);
    throw error;
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

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function resolveLinks(file: string): Promise<string> {
  return (await realpath(file).catch(ignoreAbsent)) ?? file;
}

function ignoreAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
