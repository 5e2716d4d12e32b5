// Writes bytes to a file until all are there; a disk that takes no more is told with the file's path.
import { writeSync } from 'node:fs';
import { Problem } from '#core';

/** Of the Problem when the disk is full. */
export const DISK_FULL = 'disk_full';

/** `at` is the place in the file, `shown` its path for people. */
export function writeWhole(descriptor: number, bytes: Uint8Array, at: number, shown: string): void {
  try {
    // On a full disk one write may take only a part without an error.
    for (let done = 0; done < bytes.length; )
      done += writeSync(descriptor, bytes, done, bytes.length - done, at + done);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== 'ENOSPC' && code !== 'EDQUOT') throw cause;
    throw new Problem(
      500,
      `${shown} cannot be written: its disk is full (no space or no inode left); remove files there.`,
      {
        code: DISK_FULL,
        cause,
      },
    );
  }
}
