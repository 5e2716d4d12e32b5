// Makes a file system write what it holds in memory to its disk, so that it survives a loss of power.
import { runInDirectories } from './directory-command.ts';
import type { FileOwner, GuardedDirectory } from './guarded-directory.ts';

/** Long, because a slow disk may also have much to write for other programs. */
const LIMIT_MS = 600_000;

/**
 * Resolves when all that was written before to the file system of the directory is on its disk. One call for a whole
 * tree takes a part of the time of one for each of its files. `user` is the one that opens the directory.
 */
export async function syncFileSystem(
  directory: GuardedDirectory,
  { user = null, signal }: { readonly user?: FileOwner | null; readonly signal?: AbortSignal } = {},
): Promise<void> {
  const limit = AbortSignal.timeout(LIMIT_MS);
  const ends = signal === undefined ? limit : AbortSignal.any([signal, limit]);
  try {
    await runInDirectories('sync', ['-f', '/proc/self/fd/3/.'], { directories: [directory], user, signal: ends });
  } catch (error) {
    signal?.throwIfAborted();
    const detail = `what was written to the file system of ${directory.path} is not on its disk`;
    throw new Error(limit.aborted ? `${detail} after ${LIMIT_MS / 60_000} minutes` : detail, { cause: error });
  }
}
