// Watches directories by inotify; by polling where no watches are left or STACKWARDEN_WATCH_POLLING is 1.
import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import type { Logger } from '../contract/log.ts';

const POLL_INTERVAL_MS = 2_000;

export interface DirectoryWatch {
  readonly directories: readonly string[];
  /** Levels of subdirectories that are watched too; 0 for none. */
  readonly depth: number;
  readonly ignored?: (file: string) => boolean;
  /** Unix time in milliseconds; what has changed after it before the watch began is received too. Default: nothing. */
  readonly sinceMs?: number;
  /** Receives the changed path, sometimes more than once for one change. */
  readonly onChange: (file: string) => void;
  readonly log: Logger;
}

/**
 * Resolves once every later change will be noticed, with a function that ends the watch. Never rejects: a failure of
 * the kernel's watches leads to polling, a failure of polling to a warning.
 */
export async function watchDirectories(options: DirectoryWatch): Promise<() => Promise<void>> {
  // A watcher of several is ready before it has looked at any when one of them is missing.
  const ends = await Promise.all(options.directories.map(directory => watchDirectory(directory, options)));
  return async () => void (await Promise.all(ends.map(end => end())));
}

async function watchDirectory(directory: string, options: DirectoryWatch): Promise<() => Promise<void>> {
  const { log } = options;
  // Mounts from the network do not report changes by inotify, hence the variable.
  let isPolling = process.env.STACKWARDEN_WATCH_POLLING === '1';
  let isReady = false;
  let current = openWatcher(directory, options, isPolling, error => {
    if (isPolling) return;
    isPolling = true;
    log.warn(`${directory}: no watches are left, changes are looked for every ${POLL_INTERVAL_MS / 1_000} s`, error);
    const since = isReady ? { sinceMs: Date.now() } : {};
    current = current.then(async watcher => {
      await watcher.close();
      return openWatcher(directory, { ...options, ...since }, true, late =>
        log.warn(`${directory} cannot be watched`, late),
      );
    });
  });
  await current;
  isReady = true;
  return async () => (await current).close();
}

/** Resolves when the watcher is ready, because closing a watcher before that would leave a handle open. */
function openWatcher(
  directory: string,
  { depth, ignored, sinceMs = Number.POSITIVE_INFINITY, onChange }: DirectoryWatch,
  usePolling: boolean,
  onError: (error: unknown) => void,
): Promise<FSWatcher> {
  const looksBack = sinceMs !== Number.POSITIVE_INFINITY;
  const watcher = watch(directory, {
    ignoreInitial: !looksBack,
    alwaysStat: looksBack,
    persistent: false,
    depth,
    usePolling,
    interval: POLL_INTERVAL_MS,
    ...(ignored === undefined ? {} : { ignored }),
  });
  let isReady = false;
  // A clock that is ahead, as of a server whose files are mounted, would make everything look changed.
  const isOld = (stats: Stats | undefined): boolean =>
    stats !== undefined && (stats.ctimeMs <= sinceMs || stats.ctimeMs > Date.now());
  watcher
    .on('all', (_event, file, stats) => {
      if (isReady || !isOld(stats)) onChange(file);
    })
    .on('error', onError);
  return new Promise(resolve =>
    watcher.on('ready', async () => {
      isReady = true;
      resolve(watcher);
      if (!looksBack) return;
      // What changed between the look at a file and its watch is told by nothing else.
      for (const [place, names] of Object.entries(watcher.getWatched())) {
        for (const file of names.map(name => path.join(place, name))) {
          const stats = await stat(file).catch(() => undefined);
          if (stats !== undefined && !isOld(stats) && !watcher.closed) onChange(file);
        }
      }
    }),
  );
}
