// Watches directories: by the kernel's watches, and by polling where there are none left or STACKWARDEN_WATCH_POLLING is 1,
// as for a directory on a network.
import { type FSWatcher, watch } from 'chokidar';
import type { Logger } from '../contract/log.ts';

const POLL_MS = 2_000;

export interface DirectoryWatch {
  readonly directories: readonly string[];
  readonly depth: number;
  readonly ignored?: (file: string) => boolean;
  /** May come more than once for one change. */
  readonly onChange: (file: string) => void;
  readonly log: Logger;
}

/** Resolves when every change from now on is noticed, with what ends the watch. Never fails. */
export async function watchDirectories(options: DirectoryWatch): Promise<() => Promise<void>> {
  const { directories, log } = options;
  let failed = process.env.STACKWARDEN_WATCH_POLLING === '1';
  let current = open(options, failed, error => {
    if (failed) return;
    failed = true;
    log.warn(
      `${directories.join(', ')}: no watches are left, changes are looked for every ${POLL_MS / 1_000} s`,
      error,
    );
    current = current.then(async watcher => {
      await watcher.close();
      return open(options, true, late => log.warn(`${directories.join(', ')} cannot be watched`, late));
    });
  });
  await current;
  return async () => (await current).close();
}

/** Resolves when the watcher is ready: one that is closed earlier leaves a handle behind. */
function open(
  { directories, depth, ignored, onChange }: DirectoryWatch,
  usePolling: boolean,
  onError: (error: unknown) => void,
): Promise<FSWatcher> {
  const watcher = watch([...directories], {
    ignoreInitial: true,
    persistent: false,
    depth,
    usePolling,
    interval: POLL_MS,
    ...(ignored === undefined ? {} : { ignored }),
  });
  watcher.on('all', (_event, file) => onChange(file)).on('error', onError);
  return new Promise(resolve => watcher.on('ready', () => resolve(watcher)));
}
