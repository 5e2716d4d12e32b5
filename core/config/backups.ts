// Keeps copies of configuration files with which the host has started successfully, or that it lays out anew.
import path from 'node:path';
import { removeTemporaryFilesIn, UnsyncedProblem, writeFileIn } from '../kit/atomic-write.ts';
import { GuardedDirectory } from '../kit/guarded-directory.ts';

/** Suffixes of the copies' names, the newest first. */
export const BACKUPS = ['.bak', '.bak.1', '.bak.2', '.bak.3', '.bak.4'] as const;

export const [NEWEST] = BACKUPS;
/** Suffix of the copy that becomes the newest. */
const NEXT = '.bak.new';

/**
 * Keeps the last five files that differ. They hold secrets, so only their owner reads them. After an `UnsyncedProblem`
 * the copy is kept, after any other failure it is not.
 */
export async function keepBackup(file: string, text: string): Promise<void> {
  // The copies stand beside the name of the file, also where that is a link.
  const directory = await GuardedDirectory.open(path.dirname(file));
  try {
    await keepIn(directory, path.basename(file), text);
  } finally {
    directory.close();
  }
}

async function keepIn(directory: GuardedDirectory, name: string, text: string): Promise<void> {
  // Those of a start that was killed.
  await removeTemporaryFilesIn(directory, name + NEXT);
  const bytes = Buffer.from(text);
  const newest = await directory.read(name + NEWEST, bytes.length).catch(() => null);
  if (newest?.equals(bytes) === true) return;
  // Written before the others move: a host that starts again and again on a full disk would push them all out.
  await writeFileIn(directory, name + NEXT, bytes, { mode: 0o600 }).catch(ignoreUnsynced);
  for (let index = BACKUPS.length - 1; index > 0; index -= 1) {
    await directory.rename(`${name}${BACKUPS[index - 1]}`, `${name}${BACKUPS[index]}`).catch(ignoreAbsent);
  }
  await directory.rename(name + NEXT, name + NEWEST);
  await directory.sync().catch((error: unknown) => {
    throw new UnsyncedProblem(path.join(directory.path, name + NEWEST), error);
  });
}

/** The directory is synced once more after the copies have moved, and that tells. */
function ignoreUnsynced(error: unknown): void {
  if (!(error instanceof UnsyncedProblem)) throw error;
}

function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
