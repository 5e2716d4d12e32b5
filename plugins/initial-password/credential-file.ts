// Reads the initial password that a service has left in its directory. Links and files of any other shape are refused.
import path from 'node:path';
import { Problem } from '#core';
import { GuardedDirectory } from '#kit/guarded-directory';

const MAX_BYTES = 4_096;

/**
 * The password in `file`, a path below `directory`; undefined when the file does not exist. Throws a Problem 500 when
 * the path below `directory` leads through a link, or when the file is not one line of UTF-8 text of at most 4 KiB.
 */
export async function readCredential(directory: string, file: string): Promise<string | undefined> {
  const bytes = await read(directory, file);
  if (bytes === null) return undefined;
  const text = bytes.toString('utf8').replace(/\r?\n$/, '');
  const isOneLine = text !== '' && !/[\0\r\n]/.test(text);
  if (!isOneLine || !Buffer.from(bytes.toString('utf8')).equals(bytes)) throw createProblem();
  return text;
}

/** null when there is no file. Links are not followed: the service could have made one that leads to another's file. */
async function read(directory: string, file: string): Promise<Buffer | null> {
  const folders = path.relative(directory, file).split(path.sep);
  const name = folders.pop() ?? '';
  try {
    let place = await GuardedDirectory.open(directory);
    try {
      for (const folder of folders) {
        const inside: GuardedDirectory = await place.enter(folder);
        place.close();
        place = inside;
      }
      return await place.read(name, MAX_BYTES);
    } finally {
      place.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw createProblem(error);
  }
}

function createProblem(cause?: unknown): Problem {
  return new Problem(500, 'The initial admin credential file is invalid or unreadable.', { cause });
}
