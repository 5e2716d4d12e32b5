// Makes a folder a link into the common data directory. What it holds moves there once, and is never mixed with other data.
import { execFile } from 'node:child_process';
import { lchown, lstat, mkdir, readdir, rename, rm, rmdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { isSystemPath, type Logger, mountPoints, realPlaceOf } from '#core';

const run = promisify(execFile);
const LOOK_LIMIT_MS = 5_000;

export interface DataPlace {
  readonly root: string;
  /** Name of the folder in it. */
  readonly under: string;
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

  async #ensure(folder: string, { root, under, owner }: DataPlace, signal: AbortSignal): Promise<void> {
    const mounts = (await mountPoints()).map(({ directory }) => directory);
    // A folder with a mount in it was placed by somebody.
    if (!mounts.includes(root) || mounts.some(mount => mount === folder || mount.startsWith(`${folder}/`))) return;
    const state = await stateOf(folder);
    const target = path.join(root, under);
    if (state === 'link' || state === 'other' || folder === target || isSystemPath(await realPlaceOf(folder))) return;
    const present = await namesIn(target);
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

  /** Complete beside the target before it counts, and the old folder goes last: whatever stops it, all data is somewhere. */
  async #move(folder: string, target: string, signal: AbortSignal): Promise<void> {
    const [incoming, moved] = [`${target}.incoming`, `${folder}.moved`];
    await rm(incoming, { recursive: true, force: true });
    try {
      await run('cp', ['-a', '--', folder, incoming], { signal });
    } catch (error) {
      await rm(incoming, { recursive: true, force: true });
      throw error;
    }
    await rmdir(target).catch(() => undefined);
    await rename(incoming, target);
    await rename(folder, moved);
    await symlink(target, folder);
    await rm(moved, { recursive: true });
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

/** From a child that is left behind when the mount is dead. None for a folder that is missing. */
async function namesIn(directory: string): Promise<string[]> {
  try {
    const { stdout } = await run('ls', ['-A', '--', directory], { timeout: LOOK_LIMIT_MS, killSignal: 'SIGKILL' });
    return stdout.split('\n').filter(name => name !== '');
  } catch (error) {
    if ((error as { killed?: boolean }).killed === true)
      throw new Error(`${directory} does not answer`, { cause: error });
    return [];
  }
}
