// A program that reports changes below given paths. It runs as a given user, so that links lead only where that user
// may look, and a mount that hangs makes only this program hang. It ends with the host.
import { stat } from 'node:fs/promises';
import { watch } from 'chokidar';
import { errorText } from '#kit/error-text';
import { isIgnored } from './ignored.ts';

export interface WatchOrder {
  /** Absolute. */
  readonly paths: readonly string[];
  readonly ignore: readonly string[];
  /** null for the host's own user. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
}

/** `ready` means that every later change will be reported. */
export type WatchMessage =
  | { readonly kind: 'ready'; readonly missing: readonly string[] }
  | { readonly kind: 'changed'; readonly file: string }
  | { readonly kind: 'failed'; readonly reason: string };

const POLL_INTERVAL_MS = 2_000;

process.once('disconnect', () => process.exit(0));
process.once('message', async (order: WatchOrder) => {
  const { paths, ignore, user } = order;
  if (user !== null) {
    process.setgroups?.([]);
    process.setgid?.(user.gid);
    process.setuid?.(user.uid);
  }
  const found = await Promise.all(
    paths.map(place =>
      stat(place).then(
        () => true,
        () => false,
      ),
    ),
  );
  const missing = paths.filter((_place, index) => found[index] === false);
  const send = (message: WatchMessage): void => void process.send?.(message);
  const watcher = watch([...paths], {
    ignoreInitial: true,
    followSymlinks: false,
    ignorePermissionErrors: true,
    // Network mounts do not report changes by inotify; this variable selects polling for them.
    usePolling: process.env.STACKWARDEN_WATCH_POLLING === '1',
    interval: POLL_INTERVAL_MS,
    ignored: file => paths.some(place => isIgnored(file, place, ignore)),
  });
  watcher
    .on('all', (_event, file) => send({ kind: 'changed', file }))
    .on('error', error => send({ kind: 'failed', reason: errorText(error) }))
    .on('ready', () => send({ kind: 'ready', missing }));
});
