// Reads the one-time password that a service left for its first login, and nothing else.
import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import path from 'node:path';
import { Problem } from '#core';

const MAX_BYTES = 4_096;

/** The password, or undefined when there is no such file. Throws a Problem 500 for a file that is not what it should be. */
export async function readCredential(directory: string, file: string): Promise<string | undefined> {
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    const place = await realpath(directory);
    const wanted = path.join(place, path.relative(directory, file));
    // No folder on the way may lead elsewhere.
    if ((await realpath(wanted)) !== wanted) throw invalid();
    handle = await open(wanted, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error instanceof Problem ? error : invalid(error);
  }
  try {
    const found = await handle.stat();
    if (!found.isFile() || found.size > MAX_BYTES) throw invalid();
    const bytes = await handle.readFile();
    const text = bytes.toString('utf8').replace(/\r?\n$/, '');
    const isOneLine = text !== '' && !/[\0\r\n]/.test(text);
    if (!isOneLine || bytes.length > MAX_BYTES || !Buffer.from(bytes.toString('utf8')).equals(bytes)) throw invalid();
    return text;
  } finally {
    await handle.close();
  }
}

function invalid(cause?: unknown): Problem {
  return new Problem(500, 'The initial admin credential file is invalid or unreadable.', { cause });
}
