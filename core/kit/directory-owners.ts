// Records which service each directory belongs to, because the names of several services may give the same directory
// name.
import { randomBytes } from 'node:crypto';
import type { GuardedDirectory } from './guarded-directory.ts';

/** The directory of the records: for each directory a file with the name of its service. No slug begins with a dot. */
const OWNERS = '.owners';
const MAX_NAME_BYTES = 64 * 1024;
const TEMPORARY = /^\.[0-9a-f]{16}$/;

/** By the path of the records: resolves when no record is there that a killed host has left half-written. */
const tidied = new Map<string, Promise<void>>();

export async function recordedOwner(place: GuardedDirectory, directory: string): Promise<string | null> {
  if ((await place.stat(OWNERS)) === null) return null;
  const owners = await place.enter(OWNERS);
  try {
    // A record that a loss of power has emptied counts as missing.
    return (await owners.read(directory, MAX_NAME_BYTES))?.toString('utf8') || null;
  } finally {
    owners.close();
  }
}

export async function recordOwner(place: GuardedDirectory, directory: string, processName: string): Promise<void> {
  const owners = await place.enter(OWNERS, { mode: 0o700 });
  try {
    await tidy(owners);
    // Not made from the slug, which may be as long as names can be.
    const temporary = `.${randomBytes(8).toString('hex')}`;
    const file = await owners.openFile(temporary, 'create', 0o600);
    try {
      try {
        await file.writeFile(processName);
        await file.sync();
      } finally {
        await file.close();
      }
      await owners.rename(temporary, directory);
      await owners.sync();
    } catch (error) {
      await owners.remove(temporary);
      throw error;
    }
  } finally {
    owners.close();
  }
}

/** Once in a process and before its first record, because later it would meet records that are being written. */
function tidy(owners: GuardedDirectory): Promise<void> {
  const known = tidied.get(owners.path);
  if (known !== undefined) return known;
  const made = removeTemporary(owners).catch((error: unknown) => {
    tidied.delete(owners.path);
    throw error;
  });
  tidied.set(owners.path, made);
  return made;
}

async function removeTemporary(owners: GuardedDirectory): Promise<void> {
  for (const name of await owners.names()) if (TEMPORARY.test(name)) await owners.remove(name);
}
