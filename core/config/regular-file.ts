// Reads a file that others may have put into its place: a FIFO would be waited for, and a device read, without end.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { Problem } from '../contract/problem.ts';

/** Links are followed. Throws a Problem 409 for anything but a regular file. */
export async function readRegular(file: string): Promise<Buffer> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    if (!(await handle.stat()).isFile())
      throw new Problem(409, `${file} is no regular file; replace it with one, or remove it`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}
