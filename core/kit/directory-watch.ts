// Watches directories by inotify, or by polling where no watches are left or STACKWARDEN_WATCH_POLLING is 1.
import { lstat, stat } from 'node:fs/promises';
import path from 'node:path';
import type { FSWatcher as Polled } from 'chokidar';
import type { Logger } from '../contract/log.ts';
import type { IsNews } from './watched-directory.ts';
import { WatchedRoot } from './watched-root.ts';

const POLL_INTERVAL_MS = 2_000;

export interface DirectoryWatch {
  readonly directories: readonly string[];
  /** Levels of subdirectories that are watched too; 0 for none. */
  readonly depth: number;
  readonly ignored?: (file: string) => boolean;
  /**
   * Unix time in milliseconds; changes after it and before the beginning of the watch are received too. Default: none.
   */
  readonly sinceMs?: number;
  /** Receives the changed path, sometimes more than once for one change. */
  readonly onChange: (file: string) => void;
  readonly log: Pick<Logger, 'warn'>;
}

type EndWatch = () => void | Promise<void>;

/**
 * Resolves once every later change will be noticed, with a function that ends the watch. Never rejects: a failure of
 * the kernel's watches leads to polling, a failure of polling to a warning.
 */
export async function watchDirectories(options: DirectoryWatch): Promise<() => Promise<void>> {
  const ends = await Promise.all(options.directories.map(directory => watchDirectory(directory, options)));
  return async () => void (await Promise.all(ends.map(end => end())));
}

async function watchDirectory(directory: string, options: DirectoryWatch): Promise<EndWatch> {
  const { log } = options;
  const poll = (polled: DirectoryWatch): Promise<EndWatch> =>
    pollDirectory(directory, polled, error => log.warn(`${directory} cannot be watched`, error));
  // Mounts from the network do not report changes by inotify, hence the variable.
  if (process.env.STACKWARDEN_WATCH_POLLING === '1') return poll(options);
  let isReady = false;
  let polling: Promise<EndWatch> | undefined;
  const { depth, ignored = () => false, onChange } = options;
  const watched = new WatchedRoot(directory, depth, {
    ignored,
    onChange,
    onError(error) {
      if (polling !== undefined) return;
      log.warn(`${directory}: no watches are left, changes are looked for every ${POLL_INTERVAL_MS / 1_000} s`, error);
      watched.close();
      polling = poll(isReady ? { ...options, sinceMs: Date.now() } : options);
    },
  });
  await watched.open(newsSince(options.sinceMs));
  isReady = true;
  await polling;
  return async () => {
    watched.close();
    // From now on an error starts no polling.
    polling ??= Promise.resolve(() => undefined);
    await (await polling)();
  };
}

/**
 * The test whether a file has changed since `sinceMs`. Times in the future do not count, because a file server whose
 * clock is ahead would make everything look changed. Times of files have fractions of milliseconds, the clock has none.
 */
function newsSince(sinceMs = Number.POSITIVE_INFINITY): IsNews {
  return ({ ctimeMs }) => Math.floor(ctimeMs) > sinceMs && Math.floor(ctimeMs) <= Date.now();
}

async function pollDirectory(
  directory: string,
  { depth, ignored, sinceMs, onChange }: DirectoryWatch,
  onError: (error: unknown) => void,
): Promise<EndWatch> {
  // Loaded here, because few hosts poll and the library takes time and memory.
  const { watch: poll } = await import('chokidar');
  const isNews = newsSince(sinceMs);
  let isReady = false;
  const watcher = poll(directory, {
    ignoreInitial: sinceMs === undefined,
    alwaysStat: true,
    persistent: false,
    depth,
    usePolling: true,
    interval: POLL_INTERVAL_MS,
    ...(ignored === undefined ? {} : { ignored }),
  });
  watcher
    .on('all', (_event, file, stats) => {
      if (isReady || stats === undefined || isNews(stats)) onChange(file);
    })
    .on('error', onError);
  // Closing a watcher before it is ready would leave a handle open.
  await new Promise<void>(resolve => watcher.on('ready', () => resolve()));
  isReady = true;
  if (sinceMs !== undefined) void tellMissed(watcher, isNews, onChange);
  return () => watcher.close();
}

/** Reports changes between the first look at a file and its watch, which the watcher does not report. */
async function tellMissed(watcher: Polled, isNews: IsNews, onChange: (file: string) => void): Promise<void> {
  for (const [place, names] of Object.entries(watcher.getWatched())) {
    for (const file of names.map(name => path.join(place, name))) {
      // The target of a new link may be old, so both are looked at.
      const looks = await Promise.all([stat, lstat].map(look => look(file).catch(() => undefined)));
      if (looks.some(stats => stats !== undefined && isNews(stats)) && !watcher.closed) onChange(file);
    }
  }
}
