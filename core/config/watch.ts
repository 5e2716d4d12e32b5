// Notices changes that others make to the configuration file. It watches the directory, because editors replace the
// file.
import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from '../contract/log.ts';
import { watchDirectories } from '../kit/directory-watch.ts';

const POLL_MS = 5_000;
const QUIET_MS = 50;

/**
 * Calls `onChange` soon after the file may have changed; a poll every 5 s finds changes that the kernel does not
 * report. Where `onChange` resolves with false, because the file could not be read, the next poll calls it again.
 */
export async function watchConfigFile(
  file: string,
  log: Logger,
  onChange: () => Promise<boolean>,
): Promise<() => Promise<void>> {
  let quiet: NodeJS.Timeout | undefined;
  let isUnread = false;
  const look = async (): Promise<string> => {
    const { mtimeMs, size, ino } = await stat(file).catch(() => ({ mtimeMs: 0, size: 0, ino: 0 }));
    return `${mtimeMs}:${size}:${ino}`;
  };
  let fingerprint = await look();
  const changed = (): void => {
    clearTimeout(quiet);
    quiet = setTimeout(async () => {
      // A call that takes long is not repeated meanwhile.
      isUnread = false;
      isUnread = !(await onChange());
    }, QUIET_MS);
    quiet.unref();
  };
  const poll = setInterval(async () => {
    const current = await look();
    if (current !== fingerprint || isUnread) changed();
    fingerprint = current;
  }, POLL_MS);
  poll.unref();
  const directory = path.dirname(file);
  const unwatch = await watchDirectories({
    directories: [directory],
    depth: 0,
    ignored: other => other !== directory && path.basename(other) !== path.basename(file),
    log,
    onChange: changed,
  });
  // The file may have changed between its first reading and the start of the watch.
  changed();
  return async () => {
    clearInterval(poll);
    clearTimeout(quiet);
    await unwatch();
  };
}
