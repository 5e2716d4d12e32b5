// Replaces a folder by a link into the common data directory. Its content moves there once, never into other data.
import { execFile } from 'node:child_process';
import { lchown, lstat, mkdir, mkdtemp, readdir, rename, rm, rmdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Logger } from '#core';
import { listNames } from '#kit/fs-out-of-process';
import { readMounts } from '#kit/mountinfo';
import { isSystemPath, realPlaceOf } from '#kit/system-paths';

const run = promisify(execFile);

export interface LinkTarget {
  /** The common data directory. */
  readonly root: string;
  /** Path of the target folder below `root`. */
  readonly subdirectory: string;
  /** Whether a running program uses the folder; it is left as it is then. */
  readonly isInUse: () => boolean;
  /** Owner of a target folder that is created; null leaves it to the host's user. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
}

export class DataLinks {
  readonly #log: Logger;
  /** The task of each folder, because instances of one service that start in parallel share their folders. */
  readonly #running = new Map<string, Promise<void>>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * Links the folder. A failure is logged and does not prevent the start of a service: the folder is then as it was.
   */
  async ensure(folder: string, target: LinkTarget, signal: AbortSignal): Promise<void> {
    const running =
      this.#running.get(folder) ??
      this.#ensure(folder, target, signal).catch((error: unknown) =>
        this.#log.warn(`${folder} was not moved to ${path.join(target.root, target.subdirectory)}`, error),
      );
    this.#running.set(folder, running);
    await running;
    this.#running.delete(folder);
  }

  async #ensure(
    folder: string,
    { root, subdirectory, isInUse, owner }: LinkTarget,
    signal: AbortSignal,
  ): Promise<void> {
    const mounts = (await readMounts()).map(({ directory }) => directory);
    // Somebody who mounts something at or below the folder has already decided where its data lies.
    if (!mounts.includes(root) || mounts.some(mount => mount === folder || mount.startsWith(`${folder}/`))) return;
    const state = await detectState(folder);
    const target = path.join(root, subdirectory);
    if (state === 'link' || state === 'other' || folder === target || isInUse()) return;
    // The mount table lists real paths, so `root` is one; the folder may still lead through links.
    if (isSystemPath(await realPlaceOf(folder)) || isSystemPath(root)) return;
    const present = await listNames(target);
    if (state === 'full' && present.length > 0) {
      this.#log.warn(`${folder} and ${target} both hold data; move what is needed by hand and remove the first`);
      return;
    }
    if (state === 'full') await this.#move(folder, target, signal);
    else {
      const made = await mkdir(target, { recursive: true });
      if (made !== undefined && owner !== null) await lchown(target, owner.uid, owner.gid);
      if (state === 'empty') await rmdir(folder);
      else await mkdir(path.dirname(folder), { recursive: true });
      await symlink(target, folder);
    }
  }

  /**
   * Moves the content of the folder. No data is lost at any moment: the copy beside the target is complete before the
   * folder is renamed, and the folder is renamed back when the link cannot be made.
   */
  async #move(folder: string, target: string, signal: AbortSignal): Promise<void> {
    const root = path.dirname(target);
    const prefix = `.incoming-${path.basename(target)}-`;
    for (const leftover of await listNames(root))
      if (leftover.startsWith(prefix)) await rm(path.join(root, leftover), { recursive: true });
    // mkdtemp creates the directory with mode 0700, so nobody else can put a link into it while it is filled.
    const incoming = await mkdtemp(path.join(root, prefix));
    const [copy, moved] = [path.join(incoming, 'copy'), `${folder}.moved`];
    try {
      await run('cp', ['-aT', '--', folder, copy], { signal });
      await rename(folder, moved);
      try {
        await rmdir(target).catch(() => undefined);
        await rename(copy, target);
        await symlink(target, folder);
      } catch (error) {
        await rename(moved, folder);
        throw error;
      }
      await rm(moved, { recursive: true });
    } finally {
      await rm(incoming, { recursive: true, force: true });
    }
    this.#log.info(`${folder} was moved to ${target}, where it outlives a container`);
  }
}

async function detectState(folder: string): Promise<'missing' | 'empty' | 'full' | 'link' | 'other'> {
  const found = await lstat(folder).catch(() => null);
  if (found === null) return 'missing';
  if (found.isSymbolicLink()) return 'link';
  if (!found.isDirectory()) return 'other';
  return (await readdir(folder)).length === 0 ? 'empty' : 'full';
}
