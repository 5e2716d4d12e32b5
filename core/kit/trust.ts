// Tells whether a file or directory can be trusted: only root and the host's own user may have written it.
import { constants, existsSync, type Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';

const WRITABLE_BY_OTHERS = 0o022;
const PRIVATE_MODE = 0o600;
/** The code with which Node's permission model refuses; commands that change nothing run under it. */
const NOT_PERMITTED = 'ERR_ACCESS_DENIED';
/** Reading more would stall the host for seconds. */
const MAX_PRIVATE_BYTES = 64 * 2 ** 20;

/**
 * Why other users may have written this, to follow its path in a sentence; null when only root and the host's user may.
 */
export function distrustOf({ uid, mode }: Pick<Stats, 'uid' | 'mode'>): string | null {
  if (uid !== 0 && uid !== process.geteuid?.()) return `belongs to user ${uid}`;
  return (mode & WRITABLE_BY_OTHERS) === 0 ? null : 'may be written by others';
}

/**
 * For a host that is root, a warning for each directory that another user may write to, and thereby decide what runs as
 * root; none for a missing one. Such directories are not refused, because installations whose directory belongs to the
 * services' user are usual.
 */
export async function warningsOfOwners(places: readonly string[]): Promise<string[]> {
  if (process.geteuid?.() !== 0) return [];
  const warnings = await Promise.all(
    places.map(async place => {
      const reason = existsSync(place) ? distrustOf(await stat(place)) : null;
      const remedy = 'who thereby decide what runs as root; give it to root where that is not meant';
      return reason === null ? [] : [`${place} ${reason}, ${remedy}`];
    }),
  );
  return warnings.flat();
}

/**
 * Reads a file of the host's own state, and removes the permissions of other users. Throws an Error that says what to
 * do when other users may have written it, when it is a link, or when it has more than 64 MiB.
 */
export async function readPrivate(file: string): Promise<string> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const entry = await handle.stat();
    const reason = entry.isFile() ? distrustOf(entry) : 'is no regular file';
    const own = process.geteuid?.() ?? entry.uid;
    if (reason !== null)
      throw new Error(`${file} ${reason}, so it is not trusted; make it user ${own}'s with mode 0600, or remove it`);
    if (entry.size > MAX_PRIVATE_BYTES)
      throw new Error(
        `${file} has ${entry.size} bytes, where ${MAX_PRIVATE_BYTES} are allowed; shorten it, or restore it`,
      );
    await hide(handle, PRIVATE_MODE);
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

/** Removes the permissions of other users. A command that changes nothing goes on without that. */
export async function hide(handle: FileHandle, privateMode: number): Promise<void> {
  const { uid, mode } = await handle.stat();
  if (uid !== (process.geteuid?.() ?? uid) || (mode & 0o077) === 0) return;
  await handle.chmod(privateMode).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== NOT_PERMITTED) throw error;
  });
}
