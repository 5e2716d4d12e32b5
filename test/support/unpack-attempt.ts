// Unpacks archives within the test's own process: a process for each of thousands of archives would take minutes.
import { mkdir, mkdtemp, open, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { UnpackTask } from '../../plugins/archives/task.ts';
import { unpackHere } from '../../plugins/archives/unpack-here.ts';

export interface UnpackAttempt {
  /** Absolute path of the folder that the archive is unpacked into. */
  readonly into: string;
  /** Why the archive was refused; undefined when it was unpacked. */
  readonly refusal: Error | undefined;
  /** Paths of all entries in the folder. */
  readonly names: readonly string[];
  /** Names of entries beside the folder that are not the test's own archives. */
  readonly beside: readonly string[];
}

/** Unpacks an archive; several archives in a list are layers of one image. Rejects with errors that are no refusals. */
export async function attemptToUnpack(
  dir: string,
  archive: Buffer | readonly Buffer[],
  options: Partial<Omit<UnpackTask, 'archives' | 'areLayers' | 'user'>> = {},
): Promise<UnpackAttempt> {
  const place = await mkdtemp(path.join(dir, 'attempt-'));
  const into = path.join(place, 'into');
  await mkdir(into);
  const archives = await Promise.all(
    [archive].flat().map(async (bytes, index) => {
      await writeFile(path.join(place, `archive-${index}`), bytes);
      return open(path.join(place, `archive-${index}`));
    }),
  );
  const task: UnpackTask = {
    take: [{ from: '', to: '' }],
    withoutTop: false,
    maxBytes: 10_000_000,
    maxEntries: 50,
    ...options,
    archives: archives.length,
    areLayers: Array.isArray(archive),
    user: null,
  };
  const before = process.cwd();
  process.chdir(into);
  try {
    const descriptors = archives.map(({ fd }) => fd);
    const refusal = await unpackHere(task, descriptors, () => undefined).then(() => undefined, asRefusal);
    const others = (await readdir(place)).filter(name => name !== 'into' && !name.startsWith('archive-'));
    // Without file types, Node would follow links, and links to their own folder would be followed without end.
    const entries = await readdir(into, { recursive: true, withFileTypes: true });
    const names = entries.map(({ parentPath, name }) => path.relative(into, path.join(parentPath, name)));
    return { into, refusal, names, beside: others };
  } finally {
    process.chdir(before);
    await Promise.all(archives.map(handle => handle.close()));
  }
}

function asRefusal(error: Error): Error {
  if (error.constructor.name !== 'ArchiveRefusal') throw error;
  return error;
}
