// Unmounts a mount that is held while it is checked, so that neither a mount that took its place nor the target of a
// link is unmounted instead.
import { readFileSync } from 'node:fs';
import { withDeadline } from './deadline.ts';
import { runInDirectories } from './directory-command.ts';
import { GuardedDirectory } from './guarded-directory.ts';
import { type Mount, readMounts } from './mountinfo.ts';

const LIMIT_MS = 5_000;

/**
 * Unmounts the newest mount on a directory, with the mounts inside it, if `isMeant` returns true; resolves to whether
 * it did. The mount is never read, so it may be dead. Programs that use it keep it until they close it. Throws a
 * Problem 409 for a path with a link that other users could have made, and an Error after 5 s.
 */
export async function unmount(directory: string, isMeant: (mount: Mount) => boolean): Promise<boolean> {
  const opening = GuardedDirectory.openMountPoint(directory);
  const held = await withDeadline(() => opening, LIMIT_MS, `the way to ${directory}`).catch((error: unknown) => {
    void opening.then(
      late => late.close(),
      () => undefined,
    );
    throw error;
  });
  try {
    // The kernel does not give the number of a mount that is held to another one.
    const id = mountIdOf(held);
    const mount = (await readMounts()).find(candidate => candidate.id === id);
    if (mount?.directory !== held.path || !isMeant(mount)) return false;
    const args = ['--lazy', '--no-canonicalize', '/proc/self/fd/3'];
    await runInDirectories('umount', args, { directories: [held], signal: AbortSignal.timeout(LIMIT_MS) });
    return true;
  } finally {
    held.close();
  }
}

function mountIdOf({ descriptor }: GuardedDirectory): number {
  const [, id] = /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8')) ?? [];
  return Number(id);
}
