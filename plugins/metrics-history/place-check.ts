// Refuses a place of the file that is a directory: nothing could be kept or read there.
import { Problem } from '#core';
import { fileVersion } from '#kit/fs-out-of-process';
import type { HistorySettings } from './settings.ts';

type Placed = Pick<HistorySettings, 'file'>;

/** What a mount does not tell in time is left to whoever opens it. Throws a Problem 400. */
export async function checkPlace(before: Placed, after: Placed): Promise<void> {
  if (after.file === before.file) return;
  // Only a directory has anything under its name and a slash.
  const entry = await fileVersion(`${after.file}/`).catch(() => null);
  if (entry === null) return;
  const what = `dumb.metrics.storage.sqlite_path: ${after.file} is a directory`;
  throw new Problem(400, `${what}; name a file in it, such as ${after.file.replace(/\/$/, '')}/metrics.sqlite`);
}
