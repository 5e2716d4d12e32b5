// Finds and opens the present file of a log and the files that it was rotated to.
import type { FileHandle } from 'node:fs/promises';
import { readlink } from 'node:fs/promises';
import path from 'node:path';
import { GuardedDirectory } from '#kit/guarded-directory';
import type { LogFile, LogSet } from './contract.ts';
import { type LogAccess, mayShow } from './log-places.ts';

const MAX_FILES = 30;
const FORM = /^(.+?)(?:[-_.]?\d{4}-?\d\d-?\d\d(?:_\d{1,6})?|\.\d{1,6})?\.(log|txt)(?:\.\d{1,6})?(?:\.gz)?$/i;

/** Opens the set of files to which the present file of a log belongs, and closes `present`. */
export async function openRotated(present: FileHandle, sinceMs: number, access: LogAccess): Promise<LogSet> {
  const handles: FileHandle[] = [];
  try {
    const file = await readlink(`/proc/self/fd/${present.fd}`);
    const directory = await GuardedDirectory.open(path.dirname(file));
    try {
      const names = (await directory.names()).filter(name => areOfOneLog(name, path.basename(file)));
      const entries = await Promise.all(names.map(async name => ({ name, entry: await directory.stat(name) })));
      const wanted = entries
        .flatMap(({ name, entry }) => (entry?.isFile() ? [{ name, modifiedMs: entry.mtimeMs }] : []))
        .filter(({ modifiedMs }) => modifiedMs >= sinceMs)
        .sort((a, b) => b.modifiedMs - a.modifiedMs);
      const files: LogFile[] = [];
      for (const { name, modifiedMs } of wanted.slice(0, MAX_FILES)) {
        const opened = await openShown(directory, name, access);
        if (opened === null) continue;
        handles.push(opened.handle);
        files.push({ name, descriptor: opened.handle.fd, sizeBytes: opened.sizeBytes, modifiedMs });
      }
      return { files, discovered: wanted.length, close: () => closeAll(handles) };
    } finally {
      directory.close();
    }
  } catch (error) {
    await closeAll(handles);
    throw error;
  } finally {
    await present.close();
  }
}

/** Whether both names are the same but for a date, a number and the compression that rotation adds. */
export function areOfOneLog(name: string, other: string): boolean {
  const [one, two] = [FORM.exec(name), FORM.exec(other)];
  if (one === null || two === null) return name === other;
  return one[1] === two[1] && one[2]?.toLowerCase() === two[2]?.toLowerCase();
}

/** null for a file that is gone, is no regular file, or may not be shown. */
async function openShown(
  directory: GuardedDirectory,
  name: string,
  access: LogAccess,
): Promise<{ readonly handle: FileHandle; readonly sizeBytes: number } | null> {
  const handle = await directory.openFile(name, 'read').catch(() => null);
  if (handle === null) return null;
  const entry = await handle.stat();
  if (await mayShow(path.join(directory.path, name), entry, access)) return { handle, sizeBytes: entry.size };
  await handle.close();
  return null;
}

async function closeAll(handles: FileHandle[]): Promise<void> {
  await Promise.all(handles.splice(0).map(handle => handle.close()));
}
