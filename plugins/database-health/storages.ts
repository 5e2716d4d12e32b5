// Facts about the file systems on which databases lie. Reading them may block, so only a separate program may do so.
import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { type Mount, mountOf } from '#kit/mountinfo';
import type { StorageFacts } from './contract.ts';

const NETWORK_TYPE = /^(?:9p|ceph|cifs|fuse\.ceph|fuse\.glusterfs|fuse\.sshfs.*|glusterfs|nfs4?|smb3)$/;

/** The file systems of files; each is read once. */
export class Storages {
  readonly #mounts: readonly Mount[];
  readonly #known = new Map<Mount, StorageFacts>();

  constructor(mounts: readonly Mount[]) {
    this.#mounts = mounts;
  }

  of(file: string): StorageFacts | undefined {
    const real = realpathSync(file);
    const mount = mountOf(real, this.#mounts);
    if (mount === undefined) return undefined;
    const known = this.#known.get(mount) ?? storageOf(mount, real);
    this.#known.set(mount, known);
    return known;
  }
}

function storageOf({ directory, type, source, isReadOnly }: Mount, file: string): StorageFacts {
  // Node's `statfs` does not give the unit in which blocks are counted (`f_frsize`).
  const numbers = execFileSync('stat', ['-f', '-c', '%S %b %f %a %c %d', '--', file], { encoding: 'utf8' });
  const [unit = 0, blocks = 0, free = 0, available = 0, inodes = 0, freeInodes = 0] = numbers.split(' ').map(Number);
  return {
    mountPoint: directory,
    fsType: type,
    source,
    network: NETWORK_TYPE.test(type),
    readOnly: isReadOnly,
    totalBytes: unit * blocks,
    freeBytes: unit * available,
    usedPercent: percentOf(blocks - free, blocks - free + available),
    totalInodes: inodes,
    freeInodes,
    inodeUsedPercent: percentOf(inodes - freeInodes, inodes),
  };
}

/** In percent with one decimal; null when `whole` is 0. */
function percentOf(part: number, whole: number): number | null {
  return whole > 0 ? Math.round((part / whole) * 1_000) / 10 : null;
}
