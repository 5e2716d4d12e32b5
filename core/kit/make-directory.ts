// Makes a directory and those above it. It always ends: `mkdir` with `recursive` tries without end where the kernel
// answers ENOENT inside a directory that is there, as it does in /proc. Nor does it report ENOENT for a full disk.
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';

/** Does nothing where the directory is there. */
export async function makeDirectory(directory: string, options: { readonly mode?: number } = {}): Promise<void> {
  if (await madeOne(directory, options)) return;
  await makeDirectory(path.dirname(directory), options);
  await make(directory, options);
}

/** Whether the directory is there now; false when the one above it is not. */
async function madeOne(directory: string, options: { readonly mode?: number }): Promise<boolean> {
  try {
    await make(directory, options);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && path.dirname(directory) !== directory) return false;
    throw error;
  }
}

async function make(directory: string, options: { readonly mode?: number }): Promise<void> {
  try {
    await mkdir(directory, options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const found = await stat(directory).catch(() => undefined);
    if (found?.isDirectory() !== true) throw error;
  }
}
