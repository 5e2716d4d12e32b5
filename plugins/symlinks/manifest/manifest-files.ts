// Lists the manifests in a directory: regular files, newest first.
import { lstat, readdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { requireAnswer } from '#kit/answering';

const MS_PER_S = 1_000;

export const manifestFileSchema = z.object({
  path: z.string(),
  name: z.string(),
  size_bytes: z.int().nonnegative(),
  modified_at: z.int().describe('Unix seconds'),
});

export type ManifestFile = z.output<typeof manifestFileSchema>;

/**
 * The files whose names are accepted; none when there is no such directory. A link counts when it leads to a file in
 * the same directory. Rejects when the directory cannot be read.
 */
export async function manifestFiles(directory: string, accepts: (name: string) => boolean): Promise<ManifestFile[]> {
  await requireAnswer([directory]);
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  const files: ManifestFile[] = [];
  for (const name of names.filter(accepts)) {
    const file = await fileAt(directory, name);
    if (file !== undefined) files.push(file);
  }
  return files.sort((a, b) => b.modified_at - a.modified_at || (a.name < b.name ? 1 : -1));
}

async function fileAt(directory: string, name: string): Promise<ManifestFile | undefined> {
  const place = path.join(directory, name);
  try {
    let entry = await lstat(place);
    if (entry.isSymbolicLink()) {
      const real = await realpath(place);
      if (path.dirname(real) !== (await realpath(directory))) return undefined;
      entry = await lstat(real);
    }
    if (!entry.isFile()) return undefined;
    return { path: place, name, size_bytes: entry.size, modified_at: Math.floor(entry.mtimeMs / MS_PER_S) };
  } catch {
    // The file was removed meanwhile, or the link leads nowhere.
    return undefined;
  }
}
