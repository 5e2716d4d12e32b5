// Refuses a path of the history's file that is a directory.
import { Problem } from '#core';
import { fileVersion } from '#kit/fs-out-of-process';
import type { HistorySettings } from './settings.ts';

type Placed = Pick<HistorySettings, 'file'>;

/** Throws a Problem 400 when the new path is a directory. A path that cannot be looked at in time is accepted. */
export async function checkPlace(before: Placed, after: Placed): Promise<void> {
  if (after.file === before.file) return;
  // With a slash at its end, a path exists only when it is a directory.
  const entry = await fileVersion(`${after.file}/`).catch(() => null);
  if (entry === null) return;
  const what = `dumb.metrics.storage.sqlite_path: ${after.file} is a directory`;
  throw new Problem(400, `${what}; name a file in it, such as ${after.file.replace(/\/$/, '')}/metrics.sqlite`);
}
