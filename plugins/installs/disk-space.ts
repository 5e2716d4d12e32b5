// Whether a file system has room for a number of bytes, and the Problem for a file system that cannot be written.
import { statfs } from 'node:fs/promises';
import { Problem } from '#core';
import { withDeadline } from '#kit/deadline';

const LIMIT_MS = 5_000;
const MIB = 2 ** 20;
/** A reserve for other programs of the machine. */
const SPARE_BYTES = 64 * MIB;

/** Throws a Problem 507 that says how much is missing. */
export async function needSpace(place: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await withDeadline(() => statfs(place), LIMIT_MS, `the file system of ${place}`);
  const lacking = bytes + SPARE_BYTES - bavail * bsize;
  if (lacking > 0)
    throw new Problem(507, `the file system of ${place} lacks ${Math.ceil(lacking / MIB)} MiB for it; free some space`);
}

/** A Problem for an error of a full or read-only file system; undefined for any other error. */
export function diskFault(place: string, error: unknown): Problem | undefined {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  if (error instanceof Problem) return undefined;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new Problem(507, `the file system of ${place} is full (no space or no inode left); remove files there`, {
      cause: error,
    });
  if (code === 'EROFS')
    return new Problem(409, `the file system of ${place} is read-only; mount it so that it can be written`, {
      cause: error,
    });
  return undefined;
}
