// Tells which paths this kernel reads without another machine or program. What lies on a network, on FUSE or on an
// unknown kind of file system may wait for a machine or a program that never answers.
import { lstat, readlink } from 'node:fs/promises';
import path from 'node:path';
import { type Mount, readMounts } from './mountinfo.ts';

type TypedMount = Pick<Mount, 'directory' | 'type'>;

/** File systems on disks of this machine or in its memory. */
const LOCAL_TYPES = new Set(
  'bcachefs btrfs cgroup cgroup2 devpts devtmpfs erofs exfat ext2 ext3 ext4 f2fs iso9660 jfs mqueue ntfs3 overlay proc ramfs reiserfs rootfs squashfs sysfs tmpfs vfat xfs zfs'.split(
    ' ',
  ),
);
const MAX_LINKS = 40;

/**
 * The test whether a path is local, for the present mounts. It follows the links of the path without touching a mount
 * that is not local.
 */
export async function localPlaces(mounts?: readonly TypedMount[]): Promise<(file: string) => Promise<boolean>> {
  const others = mounts === undefined ? await otherMountPoints() : otherMounts(mounts);
  return async file => others.size === 0 || isOutside(file, others);
}

/** The mount points of the table that was read last. */
let last: { readonly mounts: readonly TypedMount[]; readonly others: ReadonlySet<string> } | undefined;

/** The mount points of file systems that are not local, as they are now. */
export async function otherMountPoints(): Promise<ReadonlySet<string>> {
  const mounts = await readMounts();
  if (last?.mounts !== mounts) last = { mounts, others: otherMounts(mounts) };
  return last.others;
}

/** Whether no part of the way to the file lies on one of the mounts in `others`. */
async function isOutside(file: string, others: ReadonlySet<string>): Promise<boolean> {
  let place = '/';
  let rest = partsOf(file);
  for (let links = 0; links <= MAX_LINKS; ) {
    if (others.has(place)) return false;
    const [part, ...next] = rest;
    if (part === undefined) return true;
    const inside = path.join(place, part);
    if (others.has(inside)) return false;
    const entry = await lstat(inside).catch(() => undefined);
    // Behind a missing part there can be no mount.
    if (entry === undefined) return true;
    if (!entry.isSymbolicLink()) {
      place = inside;
      rest = next;
      continue;
    }
    links += 1;
    const target = await readlink(inside).catch(() => undefined);
    // The link has just been replaced by something else.
    if (target === undefined) continue;
    rest = [...partsOf(target), ...next];
    if (path.isAbsolute(target)) place = '/';
  }
  return false;
}

/**
 * The mount points of file systems that are not local. Of several mounts on one directory the newest covers the rest.
 */
function otherMounts(mounts: readonly TypedMount[]): ReadonlySet<string> {
  const types = new Map(mounts.map(({ directory, type }) => [directory, type]));
  return new Set([...types].filter(([, type]) => !LOCAL_TYPES.has(type)).map(([directory]) => directory));
}

function partsOf(place: string): string[] {
  return place.split('/').filter(part => part !== '' && part !== '.');
}
