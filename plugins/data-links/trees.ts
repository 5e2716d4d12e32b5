// Copies and removes directory trees without following links.
import { runInDirectories } from '#kit/directory-command';
import type { FileOwner, GuardedDirectory } from '#kit/guarded-directory';

/** Copies all that one directory holds into another with the rights of `user`; null stands for the host's own. */
export function copyContent(
  from: GuardedDirectory,
  to: GuardedDirectory,
  user: FileOwner | null,
  signal: AbortSignal,
): Promise<void> {
  const args = ['-aT', '--', '/proc/self/fd/3/.', '/proc/self/fd/4/.'];
  return runInDirectories('cp', args, { directories: [from, to], user, signal });
}

/** Removes the entry `name` of the directory with all that it holds. */
export function removeTree(directory: GuardedDirectory, name: string): Promise<void> {
  return runInDirectories('rm', ['-rf', '--', `/proc/self/fd/3/${name}`], { directories: [directory] });
}
