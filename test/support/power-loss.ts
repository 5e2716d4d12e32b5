// A file system that can be examined as a loss of power would leave it: without what has not reached its disk yet.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import { isRoot } from './race.ts';

const DISK_BYTES = 64 * 2 ** 20;

/** Options of a test that needs such a disk. */
export const DISK_ONLY = { skip: canMount() ? false : 'it takes root, mkfs.ext4 and a loop device' };

/**
 * Mounts a new file system at `place`; its disk image lies beside it. `lost` mounts a copy of the image, as a loss of
 * power would leave it now, and calls `look` with its place.
 */
export function makeDisk(t: Test, place: string) {
  const [disk, copy, found] = [`${place}.disk`, `${place}.copy`, `${place}.found`];
  format(disk, DISK_BYTES);
  mkdirSync(place, { recursive: true });
  execFileSync('mount', ['-o', 'loop,commit=600', disk, place]);
  t.teardown(() => execFileSync('umount', ['-l', place]));
  return {
    async lost<Value>(look: (found: string) => Promise<Value>): Promise<Value> {
      execFileSync('cp', ['--sparse=always', disk, copy]);
      mkdirSync(found, { recursive: true });
      execFileSync('mount', ['-o', 'loop', copy, found]);
      try {
        return await look(found);
      } finally {
        execFileSync('umount', [found]);
      }
    },
  };
}

function format(disk: string, bytes: number): void {
  writeFileSync(disk, '');
  truncateSync(disk, bytes);
  execFileSync('mkfs.ext4', ['-q', disk], { stdio: 'pipe' });
}

function canMount(): boolean {
  if (!isRoot) return false;
  const dir = execFileSync('mktemp', ['-d'], { encoding: 'utf8' }).trim();
  try {
    format(path.join(dir, 'disk'), 2 ** 20);
    mkdirSync(path.join(dir, 'place'));
    execFileSync('mount', ['-o', 'loop', path.join(dir, 'disk'), path.join(dir, 'place')], { stdio: 'pipe' });
    execFileSync('umount', [path.join(dir, 'place')]);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
