// Makes a folder a link into the common data directory. What it holds moves there once, and is never mixed with other data.
import { execFile } from 'node:child_process';
import { lchown, lstat, mkdir, mkdtemp, readdir, rename, rm, rmdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Logger } from '#core';
import { namesOutside } from '#kit/fs-out-of-process';
import { readMounts } from '#kit/mountinfo';
import { isSystemPath, realPlaceOf } from '#kit/system-paths';

const run = promisify(execFile);

export interface DataPlace {
  readonly root: string;
  /** Name of the folder in it. */
  readonly under: string;
  /** Whether a program that runs uses the folder. */
  readonly inUse: () => boolean;
  /** Who a folder that is made belongs to; null: the host. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
}

export class DataLinks {
  readonly #log: Logger;
  /** By folder: instances of one service start side by side. */
  readonly #running = new Map<string, Promise<void>>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** A fault is told and keeps nobody from starting: the folder is then as it was. */
  async ensure(folder: string, place: DataPlace, signal: AbortSignal): Promise<void> {
    const running =
      this.#running.get(folder) ??
      this.#ensure(folder, place, signal).catch((error: unknown) =>
        this.#log.warn(`${folder} was not moved to ${path.join(place.root, place.under)}`, error),
      );
    this.#running.set(folder, running);
    await running;
    this.#running.delete(folder);
  }

  async #ensure(folder: string, { root, under, inUse, owner }: DataPlace, signal: AbortSignal): Promise<void> {
    const mounts = (await readMounts()).map(({ directory }) => directory);
    // A folder with a mount in it was placed by somebody.
    if (!mounts.includes(root) || mounts.some(mount => mount === folder || mount.startsWith(`${folder}/`))) return;
    const state = await stateOf(folder);
    const target = path.join(root, under);
    if (state === 'link' || state === 'other' || folder === target || inUse()) return;
    // A mount is listed by its real place.
    if (isSystemPath(await realPlaceOf(folder)) || isSystemPath(root)) return;
    const present = await namesOutside(target);
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

  /** Complete beside the target before the folder goes, and back again when it cannot be replaced: no data is lost. */
  async #move(folder: string, target: string, signal: AbortSignal): Promise<void> {
    const root = path.dirname(target);
    const prefix = `.incoming-${path.basename(target)}-`;
    for (const left of await namesOutside(root))
      if (left.startsWith(prefix)) await rm(path.join(root, left), { recursive: true });
    // Nobody else may put a link where it is filled.
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

async function stateOf(folder: string): Promise<'missing' | 'empty' | 'full' | 'link' | 'other'> {
  const found = await lstat(folder).catch(() => null);
  if (found === null) return 'missing';
  if (found.isSymbolicLink()) return 'link';
  if (!found.isDirectory()) return 'other';
  return (await readdir(folder)).length === 0 ? 'empty' : 'full';
}
