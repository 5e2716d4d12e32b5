// Searches the new lines in the log of a service. The service's user may have replaced the file by anything, such as a
// link.
import path from 'node:path';
import { reasonText } from '#kit/error-text';
import { GuardedDirectory } from '#kit/guarded-directory';
import { isLogPattern, matchesLogPattern, newestFirst } from '#kit/service-log';
import { countSignals, type LogLook, type LogPosition } from './log-signals.ts';

export interface LogToLook {
  readonly file: string;
  readonly known: LogPosition | null;
  readonly tailBytes: number;
}

export async function lookAtLog({ file, known, tailBytes }: LogToLook): Promise<LogLook> {
  try {
    const directory = await GuardedDirectory.open(path.dirname(file));
    try {
      const name = isLogPattern(file) ? await newestOf(directory, path.basename(file)) : path.basename(file);
      if (name === null) return { path: null, error: 'There is no log yet' };
      return await searched(directory, name, known, tailBytes);
    } finally {
      directory.close();
    }
  } catch (error) {
    return { path: file, error: reasonText(error) };
  }
}

async function newestOf(directory: GuardedDirectory, pattern: string): Promise<string | null> {
  const [newest] = await newestFirst(directory, name => matchesLogPattern(name, pattern));
  return newest?.name ?? null;
}

/** Searches what was added since `known`, or the end of a log that is new or grew by more than `tailBytes`. */
async function searched(
  directory: GuardedDirectory,
  name: string,
  known: LogPosition | null,
  tailBytes: number,
): Promise<LogLook> {
  const handle = await directory.openFile(name, 'read');
  try {
    const { dev, ino, size, mtimeMs } = await handle.stat();
    const id = `${dev}:${ino}`;
    const isNew = known === null || known.id !== id || known.through > size;
    const start = isNew ? 0 : known.through;
    const from = Math.max(start, size - tailBytes);
    const bytes = Buffer.alloc(size - from);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, from);
    const text = bytes.subarray(0, bytesRead);
    // A line whose beginning is missing is left out; one that has not ended yet is left for the next search.
    const first = from === start ? 0 : text.indexOf('\n') + 1;
    const end = text.lastIndexOf('\n') + 1;
    return {
      path: path.join(directory.path, name),
      position: { id, through: from + end },
      isNew,
      counts: countSignals(text.toString('utf8', first, Math.max(first, end))),
      modifiedAt: mtimeMs / 1_000,
    };
  } finally {
    await handle.close();
  }
}
