// Reads the mount table of this namespace without touching a mount point, because a dead one would block the reader.
import { readFileSync } from 'node:fs';
import path from 'node:path';

export interface Mount {
  /** The kernel's number of the mount, which may be given to another once it is gone. */
  readonly id: number;
  /** The kernel's numbers of the file system, which all mounts of it have in common. */
  readonly device: string;
  /** The mount point. */
  readonly directory: string;
  /** File system type, for example `ext4` or `fuse.sshfs`. */
  readonly type: string;
  /** The device, or what else the file system comes from, for example `server:/export`. */
  readonly source: string;
  readonly isReadOnly: boolean;
}

/** The table that was read last, because it seldom changes. */
let last: { readonly table: string; readonly mounts: readonly Mount[] } = { table: '', mounts: [] };

/**
 * All mounts; of several on one directory the newest comes last. proc(5) describes the fields of
 * `/proc/[pid]/mountinfo`.
 */
export async function readMounts(): Promise<readonly Mount[]> {
  // Synchronous, because the kernel answers from memory: the detour over another thread takes ten times as long.
  const table = readFileSync('/proc/self/mountinfo', 'utf8');
  if (table === last.table) return last.mounts;
  const mounts = table
    .split('\n')
    .filter(line => line !== '')
    .map(line => {
      const [before = '', after = ''] = line.split(' - ');
      const [id, , device = '', , directory = '', options = ''] = before.split(' ');
      const [type = '', source = '', fileSystemOptions = ''] = after.split(' ');
      const isReadOnly = /^ro(?:,|$)/.test(options) || /^ro(?:,|$)/.test(fileSystemOptions);
      return {
        id: Number(id),
        device,
        directory: decodeField(directory),
        type,
        source: decodeField(source),
        isReadOnly,
      };
    });
  last = { table, mounts };
  return mounts;
}

/** An absolute path as the table spells it: with single slashes, and none at its end. */
export function listedPath(place: string): string {
  return path.normalize(place).replace(/(?<=.)\/$/, '');
}

/**
 * The mount that holds a real path, one without links: the longest above it, and of several on one directory the
 * newest.
 */
export function mountOf(real: string, mounts: readonly Mount[]): Mount | undefined {
  let nearest: Mount | undefined;
  for (const mount of mounts) {
    const { directory } = mount;
    const isAbove = directory === '/' || real === directory || real.startsWith(`${directory}/`);
    if (isAbove && directory.length >= (nearest?.directory.length ?? 0)) nearest = mount;
  }
  return nearest;
}

/** The kernel writes space, tab, newline and backslash as octal escapes. */
function decodeField(field: string): string {
  return field.replaceAll(/\\([0-7]{3})/g, (_whole, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}
