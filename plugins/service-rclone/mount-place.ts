// Prepares the mount point: removes the mount that an earlier run has left there, and tells who could exchange it.
import { lstat, readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import { runInDirectories } from '#kit/directory-command';
import { GuardedDirectory } from '#kit/guarded-directory';
import { distrustOf } from '#kit/trust';

const LIMIT_MS = 5_000;
const STICKY = 0o1000;

/** Uses the mount table, because the path of a dead mount must not be touched. */
export async function freeMountPlace(directory: string): Promise<void> {
  const table = await readFile('/proc/self/mountinfo', 'utf8');
  const isMounted = table.split('\n').some(line => line.split(' ')[4] === directory.replaceAll(' ', '\\040'));
  if (!isMounted) return;
  const parent = await GuardedDirectory.open(path.dirname(directory));
  try {
    const args = ['--lazy', '--no-canonicalize', `/proc/self/fd/3/${path.basename(directory)}`];
    await runInDirectories('umount', args, { directories: [parent], signal: AbortSignal.timeout(LIMIT_MS) });
  } finally {
    parent.close();
  }
}

/** Why others could put something else in the place of what lies in the directory; null when they cannot. */
export async function distrustOfWay(directory: string): Promise<string | null> {
  for (let place = await realpath(directory); ; place = path.dirname(place)) {
    const { uid, mode } = await lstat(place);
    // In a sticky directory, such as /tmp, others cannot rename what is not theirs.
    const reason = distrustOf({ uid, mode: (mode & STICKY) === 0 ? mode : 0 });
    if (reason !== null) return `${place} ${reason}`;
    if (place === path.dirname(place)) return null;
  }
}
