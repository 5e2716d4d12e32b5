// The cold backup of a service: exact copies with their digests, from which its former state can be restored.
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { removeTemporaryFilesIn, writeFileIn } from '#kit/atomic-write';
import { reasonText } from '#kit/error-text';
import { GuardedDirectory } from '#kit/guarded-directory';
import type { JobWork } from './job.ts';

export type BackupFile = JobWork['backup'][number];

const CHUNK_BYTES = 1024 * 1024;
const MAX_TEXT_BYTES = 16 * 1024 * 1024;
const MODE_BITS = 0o777;
/** Ends of the names of the files that SQLite keeps beside a database. */
const BESIDE = ['-wal', '-shm', '-journal'];

/** File name of the copy of a database in a backup. */
export function copyOf(label: string): string {
  return `sqlite-${label}.db`;
}

/**
 * Copies a file byte for byte; the copy is on disk when this resolves. `copied` gets the number of bytes copied so far.
 */
export async function backUp(
  directory: string,
  name: string,
  source: string,
  { signal, copied }: { readonly signal: AbortSignal; readonly copied?: (bytes: number) => void },
): Promise<BackupFile> {
  const done = GuardedDirectory.at(source, async (from, sourceName) => {
    const input = await from.openFile(sourceName, 'read');
    const into = await GuardedDirectory.open(directory);
    try {
      const { uid, gid, mode } = await input.stat();
      const output = await into.openFile(name, 'create', 0o600);
      try {
        const { sha256, bytes } = await copy(input, output, signal, copied);
        await output.sync();
        await into.sync();
        return { name, source, sha256, bytes, uid, gid, mode: mode & MODE_BITS };
      } finally {
        await output.close();
      }
    } finally {
      into.close();
      await input.close();
    }
  });
  return done.catch((error: unknown) => {
    signal.throwIfAborted();
    const text = `${source} cannot be copied to ${directory}: ${reasonText(error)}; see to the disk`;
    throw new Error(text, { cause: error });
  });
}

/** Why a file cannot be copied by `backUp`; undefined when it can. */
export async function obstacleToBackup(file: string): Promise<string | undefined> {
  try {
    return await GuardedDirectory.at(file, async (directory, name) => {
      const entry = await directory.stat(name);
      if (entry?.isSymbolicLink() === true)
        return `${file} is a link, which a backup does not follow; put the database itself in its place`;
      if (entry?.isFile() === false) return `${file} is no regular file; put the database in its place`;
      await (await directory.openFile(name, 'read')).close();
      return undefined;
    });
  } catch (error) {
    return `${file} cannot be copied: ${reasonText(error)}`;
  }
}

/** Why a backup cannot be relied on; undefined when every file still has its digest. */
export async function faultOfBackup(directory: string, files: readonly BackupFile[]): Promise<string | undefined> {
  for (const { name, sha256 } of files) {
    const file = path.join(directory, name);
    const found = await GuardedDirectory.at(file, async (place, own) => {
      const handle = await place.openFile(own, 'read');
      try {
        return (await copy(handle, null, AbortSignal.any([]))).sha256;
      } finally {
        await handle.close();
      }
    }).catch(() => null);
    if (found === null) return `${file} is missing`;
    if (found !== sha256) return `${file} was altered`;
  }
  return undefined;
}

/**
 * Puts a settings file back where it was. With `keepsPresent`, the present file goes into the backup as
 * `<name>.before-rollback`.
 */
export async function putBackSettings(
  directory: string,
  { name, source, uid, gid, mode }: BackupFile,
  { keepsPresent }: { readonly keepsPresent: boolean },
): Promise<void> {
  const backup = await GuardedDirectory.open(directory);
  try {
    const bytes = await backup.read(name, MAX_TEXT_BYTES);
    if (bytes === null) throw new Error(`${path.join(directory, name)} is missing`);
    await GuardedDirectory.at(source, async (place, own) => {
      // That of a host that was killed while it pointed the service at PostgreSQL.
      await removeTemporaryFilesIn(place, own);
      const present = await place.read(own, MAX_TEXT_BYTES);
      // When a rollback that was cut off is repeated, the file that it has kept must stay.
      if (present?.equals(bytes) === true) return;
      if (keepsPresent && present !== null)
        await writeFileIn(backup, `${name}.before-rollback`, present, { mode: 0o600 });
      await writeFileIn(place, own, bytes, { mode, owner: { uid, gid } });
    });
  } finally {
    backup.close();
  }
}

/** Puts the copy of a database in the place of one that is missing, or damaged and then kept as `<name>.damaged`. */
export async function putBackDatabase(directory: string, file: BackupFile, signal: AbortSignal): Promise<void> {
  const { name, source, uid, gid, mode } = file;
  await GuardedDirectory.at(path.join(directory, name), async (from, own) => {
    const input = await from.openFile(own, 'read');
    try {
      await GuardedDirectory.at(source, async (place, target) => {
        const temporary = `${target}.restored`;
        await place.remove(temporary);
        const output = await place.openFile(temporary, 'create', mode);
        try {
          await copy(input, output, signal);
          if (process.geteuid?.() === 0) await output.chown(uid, gid);
          await output.chmod(mode);
          await output.sync();
        } finally {
          await output.close();
        }
        if ((await place.stat(target)) !== null) await place.rename(target, `${target}.damaged`);
        for (const end of BESIDE) await place.remove(`${target}${end}`);
        await place.rename(temporary, target);
        await place.sync();
      });
    } finally {
      await input.close();
    }
  });
}

/** Copies the whole input and gives its digest. Without an output the input is only read. */
async function copy(
  input: FileHandle,
  output: FileHandle | null,
  signal: AbortSignal,
  copied?: (bytes: number) => void,
): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let bytes = 0; ; ) {
    signal.throwIfAborted();
    const { bytesRead } = await input.read(buffer, 0, CHUNK_BYTES, bytes);
    if (bytesRead === 0) return { sha256: hash.digest('hex'), bytes };
    const chunk = buffer.subarray(0, bytesRead);
    hash.update(chunk);
    if (output !== null) await output.writeFile(chunk);
    bytes += bytesRead;
    copied?.(bytes);
  }
}
