// Prepares the mount point: removes the mount that an earlier run has left there, and finds out who could replace it.
import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';
import { listedPath, type Mount, readMounts } from '#kit/mountinfo';
import { distrustOf } from '#kit/trust';
import { unmount } from '#kit/unmount';

const STICKY = 0o1000;

/** Unmounts a FUSE file system at `place`. Others stay, because rclone cannot have left them. */
export async function freeMountPlace(place: string): Promise<void> {
  const directory = listedPath(place);
  const isLeft = ({ type }: Mount): boolean => type.startsWith('fuse');
  const isMounted = (await readMounts()).some(mount => mount.directory === directory && isLeft(mount));
  if (isMounted) await unmount(directory, isLeft);
}

/** Why other users could replace what lies in the directory; null when they cannot. */
export async function distrustOfWay(directory: string): Promise<string | null> {
  for (let place = await realpath(directory); ; place = path.dirname(place)) {
    const { uid, mode } = await lstat(place);
    // In a sticky directory, such as /tmp, users cannot rename what belongs to others.
    const reason = distrustOf({ uid, mode: (mode & STICKY) === 0 ? mode : 0 });
    if (reason !== null) return `${place} ${reason}`;
    if (place === path.dirname(place)) return null;
  }
}
