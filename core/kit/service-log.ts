// Reads the names of service logs: relative ones lie below the log directory, and `<date>` stands for any text.
import type { Stats } from 'node:fs';
import path from 'node:path';
import type { GuardedDirectory } from './guarded-directory.ts';
import { consistsOf } from './name-pattern.ts';

const DATE = '<date>';

/** The absolute path of the log that a block names; null when it names none. */
export function logFileOf(name: unknown, logDir: string): string | null {
  return typeof name === 'string' && name !== '' ? path.resolve(logDir, name) : null;
}

/** Whether the file name stands for many files, of which the newest is the log. */
export function isLogPattern(file: string): boolean {
  return path.basename(file).includes(DATE);
}

/** Whether a file name is one of those that the pattern, a file name too, stands for. */
export function matchesLogPattern(name: string, pattern: string): boolean {
  return consistsOf(name, pattern.split(DATE));
}

interface NamedFile {
  readonly name: string;
  readonly entry: Stats;
}

/** The regular files of a directory whose names fit, those that were modified last first. */
export async function newestFirst(
  directory: GuardedDirectory,
  fits: (name: string) => boolean,
): Promise<readonly NamedFile[]> {
  const names = (await directory.names()).filter(fits);
  const found = await Promise.all(names.map(async name => ({ name, entry: await directory.stat(name) })));
  const files = found.flatMap(({ name, entry }) => (entry?.isFile() === true ? [{ name, entry }] : []));
  return files.sort((a, b) => b.entry.mtimeMs - a.entry.mtimeMs);
}
