// A program that reports changes below given paths. It runs as a given user, so that links lead only where that user
// may look, and a mount that hangs makes only this program hang. It ends with the host.
import { errorText } from '#kit/error-text';
import { isIgnored } from './ignored.ts';
import { WatchedPath } from './watched-path.ts';

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
  | { readonly kind: 'polling'; readonly intervalMs: number }
  | { readonly kind: 'failed'; readonly reason: string };

process.once('disconnect', () => process.exit(0));
process.once('message', async (order: WatchOrder) => {
  const { paths, ignore, user } = order;
  if (user !== null) {
    process.setgroups?.([]);
    process.setgid?.(user.gid);
    process.setuid?.(user.uid);
  }
  const send = (message: WatchMessage): void => void process.send?.(message);
  const listeners = {
    ignored: (file: string) => paths.some(place => isIgnored(file, place, ignore)),
    onChange: (file: string) => send({ kind: 'changed', file }),
    onPolling: (intervalMs: number) => send({ kind: 'polling', intervalMs }),
    onError: (error: unknown) => send({ kind: 'failed', reason: errorText(error) }),
  };
  const found = await Promise.all(paths.map(place => new WatchedPath(place, listeners).open()));
  send({ kind: 'ready', missing: paths.filter((_place, index) => found[index] === false) });
});
