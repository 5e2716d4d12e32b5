// Writes all of some bytes to a file; a full disk becomes a Problem with the path of the file.
import { writeSync } from 'node:fs';
import { Problem } from '#core';

/** The code of the Problem for a full disk. */
export const DISK_FULL = 'disk_full';

/** `at` is the offset in the file; `shown` is its path in messages. Throws a Problem 500 when the disk is full. */
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
