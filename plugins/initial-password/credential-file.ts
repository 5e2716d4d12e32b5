// Reads the initial password that a service has left in its directory. Links and files of any other shape are refused.
import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import path from 'node:path';
import { Problem } from '#core';

const MAX_BYTES = 4_096;

/**
 * The password in `file`, a path below `directory`; undefined when the file does not exist. Throws a Problem 500 when
 * the path leads through a link, or when the file is not one line of UTF-8 text of at most 4 KiB.
 */
export async function readCredential(directory: string, file: string): Promise<string | undefined> {
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    const realDirectory = await realpath(directory);
    const expectedPath = path.join(realDirectory, path.relative(directory, file));
    // A link on the way, which the service could have made, would lead to a file of somebody else.
    if ((await realpath(expectedPath)) !== expectedPath) throw createProblem();
    handle = await open(expectedPath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error instanceof Problem ? error : createProblem(error);
  }
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > MAX_BYTES) throw createProblem();
    const bytes = await handle.readFile();
    const text = bytes.toString('utf8').replace(/\r?\n$/, '');
    const isOneLine = text !== '' && !/[\0\r\n]/.test(text);
    if (!isOneLine || bytes.length > MAX_BYTES || !Buffer.from(bytes.toString('utf8')).equals(bytes))
      throw createProblem();
    return text;
  } finally {
    await handle.close();
  }
}

function createProblem(cause?: unknown): Problem {
  return new Problem(500, 'The initial admin credential file is invalid or unreadable.', { cause });
}
