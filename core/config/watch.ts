// Notices changes that others make to the configuration file. It watches the directory, because editors replace the
// file.
import path from 'node:path';
import type { Logger } from '../contract/log.ts';
import { watchDirectories } from '../kit/directory-watch.ts';
import { fileVersion } from '../kit/fs-out-of-process.ts';

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
  let isLooking = false;
  let isClosed = false;
  /** undefined while the mount of the file does not answer. */
  const look = (): Promise<string | null | undefined> => fileVersion(file).catch(() => undefined);
  let version = await look();
  const changed = (): void => {
    if (isClosed) return;
    clearTimeout(quiet);
    quiet = setTimeout(async () => {
      // A call that takes long is not repeated meanwhile.
      isUnread = false;
      isUnread = !(await onChange());
    }, QUIET_MS);
    quiet.unref();
  };
  const poll = setInterval(async () => {
    if (isLooking) return;
    isLooking = true;
    const current = await look();
    isLooking = false;
    // Nothing can be read before the mount answers.
    if (current !== version || (isUnread && current !== undefined)) changed();
    version = current;
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
    isClosed = true;
    clearInterval(poll);
    clearTimeout(quiet);
    await unwatch();
  };
}
