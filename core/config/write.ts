// Replaces a file whole: readers and a crash at any moment see either the old content or the new.
import { copyFile, open, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import writeAtomic from 'write-file-atomic';

export interface AtomicWriteOptions {
  /** Permission bits of a file that is created; an existing file keeps its own, and its owner. */
  readonly mode?: number;
  /** Whether the data survives a loss of power, not only of the process. Default true. */
  readonly durable?: boolean;
}

/**
 * Writes a temporary file beside `file`, renames it over and syncs the directory. Where the file cannot be renamed
 * over, as a single bind-mounted file, it is copied to `<file>.bak` and rewritten in place.
 */
export async function writeFileAtomic(
  file: string,
  data: string | Buffer,
  options: AtomicWriteOptions = {},
): Promise<void> {
  const durable = options.durable ?? true;
  const mode = options.mode === undefined || (await exists(file)) ? {} : { mode: options.mode };
  try {
    await writeAtomic(file, data, { fsync: durable, ...mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EBUSY' && code !== 'EXDEV') throw error;
    await removeTemporaryFiles(file);
    await rewriteInPlace(file, data);
    return;
  }
  if (durable) await syncDirectory(path.dirname(file));
}

/** Removes what interrupted writes of `file` left beside it. */
export async function removeTemporaryFiles(file: string): Promise<void> {
  const directory = path.dirname(file);
  const prefix = `${path.basename(file)}.`;
  for (const name of await readdir(directory)) {
    if (name.startsWith(prefix) && /^\d{4,}$/.test(name.slice(prefix.length)))
      await rm(path.join(directory, name), { force: true });
  }
}

async function rewriteInPlace(file: string, data: string | Buffer): Promise<void> {
  await copyFile(file, `${file}.bak`);
  const handle = await open(file, 'r+');
  try {
    const bytes = Buffer.from(data);
    await handle.write(bytes, 0, bytes.length, 0);
    await handle.truncate(bytes.length);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await (await open(file, 'r')).close();
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}
