// Notices that the configuration file was changed outside. It watches the directory, because editors replace the file.
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import type { Logger } from '../plugin.ts';

const POLL_MS = 5_000;
const QUIET_MS = 50;

/** Calls `onChange` soon after the file may have changed; a poll every 5 s finds what the kernel does not report. */
export async function watchConfigFile(file: string, log: Logger, onChange: () => void): Promise<() => Promise<void>> {
  let quiet: NodeJS.Timeout | undefined;
  let fingerprint = '';
  const changed = (): void => {
    clearTimeout(quiet);
    quiet = setTimeout(onChange, QUIET_MS);
    quiet.unref();
  };
  const poll = setInterval(async () => {
    const { mtimeMs, size, ino } = await stat(file).catch(() => ({ mtimeMs: 0, size: 0, ino: 0 }));
    const current = `${mtimeMs}:${size}:${ino}`;
    if (fingerprint !== '' && current !== fingerprint) changed();
    fingerprint = current;
  }, POLL_MS);
  poll.unref();
  const watcher = openWatcher(file, log, changed);
  // A watcher that is closed before it is ready leaves a handle behind.
  await once(watcher, 'ready');
  return async () => {
    clearInterval(poll);
    clearTimeout(quiet);
    await watcher.close();
  };
}

function openWatcher(file: string, log: Logger, changed: () => void): FSWatcher {
  const watcher = watch(path.dirname(file), {
    ignoreInitial: true,
    persistent: false,
    depth: 0,
    usePolling: process.env.STACKWARDEN_WATCH_POLLING === '1',
  });
  watcher.on('all', (_event, name) => {
    if (path.basename(name) === path.basename(file)) changed();
  });
  // Without watches, as when the kernel has none left, the poll alone notices changes.
  watcher.on('error', error =>
    log.warn(`${file} cannot be watched; changes are noticed within ${POLL_MS / 1_000} s`, error),
  );
  return watcher;
}
