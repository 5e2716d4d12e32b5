// Prepares the mount point: removes the mount that an earlier run has left there, and tells who could exchange it.
import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';
import { listedPath, type Mount, readMounts } from '#kit/mountinfo';
import { distrustOf } from '#kit/trust';
import { unmount } from '#kit/unmount';

const STICKY = 0o1000;

/** Whatever else is mounted there stays: no run of ours has left it. */
export async function freeMountPlace(place: string): Promise<void> {
  const directory = listedPath(place);
  const isLeft = ({ type }: Mount): boolean => type.startsWith('fuse');
  const isMounted = (await readMounts()).some(mount => mount.directory === directory && isLeft(mount));
  if (isMounted) await unmount(directory, isLeft);
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
