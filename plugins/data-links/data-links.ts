// Replaces a folder by a link into the common data directory. Its content is moved there once, and only into an empty
// folder. Services may be able to write to both places, so each is held open by its descriptor, and content is copied
// with the rights of their user.
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Logger } from '#core';
import { syncFileSystem } from '#kit/file-system-sync';
import { listNames } from '#kit/fs-out-of-process';
import { type FileOwner, GuardedDirectory } from '#kit/guarded-directory';
import { readMounts } from '#kit/mountinfo';
import { isSystemPath, realPlaceOf } from '#kit/system-paths';
import { copyContent, removeTree } from './trees.ts';

/** How the names of directories end that are to be renamed or removed, so that none is taken for a user's. */
const RANDOM_END = /^[0-9a-f]{8}$/;

export interface LinkTarget {
  /** The common data directory. */
  readonly root: string;
  /** Path of the target folder below `root`. */
  readonly subdirectory: string;
  /** Whether a running program uses the folder, which is then left as it is. */
  readonly isInUse: () => boolean;
  /** The service's user, to whom a target folder that is created belongs; null leaves it to the host's user. */
  readonly owner: FileOwner | null;
}

/** A folder and its target: names in the directories that hold them. */
interface Move {
  readonly from: GuardedDirectory;
  readonly folder: string;
  readonly to: GuardedDirectory;
  readonly target: string;
  /** Whether the target holds nothing, or does not exist. */
  readonly isFree: boolean;
  readonly owner: FileOwner | null;
  readonly signal: AbortSignal;
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
    // A mount at or below the folder means that a user has already decided where its data lies.
    if (!mounts.includes(root) || mounts.some(mount => mount === folder || mount.startsWith(`${folder}/`))) return;
    const target = path.join(root, subdirectory);
    if (folder === target || isInUse()) return;
    // The mount table lists real paths, so `root` is one; the folder may still lead through links.
    if (isSystemPath(await realPlaceOf(folder)) || isSystemPath(root)) return;
    const from = await GuardedDirectory.open(path.dirname(folder), {});
    try {
      const entry = await from.stat(path.basename(folder));
      const isLinked = entry?.isSymbolicLink() === true && (await realPlaceOf(folder)) === (await realPlaceOf(target));
      if (entry !== null && !entry.isDirectory() && !isLinked) return;
      // Asked in a child first, because the mount may be dead.
      const isFree = (await listNames(target)).length === 0;
      if (isLinked) {
        // What was moved may be the only copy when the mount is another one now.
        if (!isFree) await this.#removeMoved(from, path.basename(folder));
        return;
      }
      const to = await GuardedDirectory.open(path.dirname(target), {});
      try {
        const names = { folder: path.basename(folder), target: path.basename(target) };
        const content = entry === null ? null : await from.enter(names.folder);
        await this.#link({ from, to, ...names, isFree, owner, signal }, content).finally(() => content?.close());
      } finally {
        to.close();
      }
    } finally {
      from.close();
    }
  }

  /** `content` is the folder, if it exists. */
  async #link(move: Move, content: GuardedDirectory | null): Promise<void> {
    const { from, folder, to, target, isFree, owner } = move;
    const isEmpty = content === null || (await content.names()).length === 0;
    if (isEmpty) {
      (await to.enter(target, { owner })).close();
      if (content !== null) await from.removeDirectory(folder);
      await from.link(folder, path.join(to.path, target));
      if (content === null && !isFree) await this.#removeMoved(from, folder);
    } else if (isFree) await this.#move(move, content);
    else {
      const places = `${path.join(from.path, folder)} and ${path.join(to.path, target)}`;
      this.#log.warn(`${places} both hold data; move what is needed by hand and remove the first`);
    }
  }

  /**
   * Moves the content of the folder. No data is lost even by a power failure: the copy is complete, on disk and in its
   * place before the folder is renamed, and the link is on disk before the folder is removed.
   */
  async #move({ from, folder, to, target, owner, signal }: Move, content: GuardedDirectory): Promise<void> {
    const prefix = `.incoming-${target}-`;
    for (const leftover of madeNames(prefix, await to.names())) await removeTree(to, leftover);
    const [incoming, moved] = [madeName(prefix), madeName(movedPrefix(folder))];
    try {
      const copy = await to.enter(incoming, { mode: 0o700, owner });
      try {
        await copyContent(content, copy, owner, signal);
        await syncFileSystem(copy, { signal });
      } finally {
        copy.close();
      }
      await to.removeDirectory(target).catch(() => undefined);
      await to.rename(incoming, target);
      try {
        await to.sync();
        await from.rename(folder, moved);
        await from.link(folder, path.join(to.path, target)).catch(async (error: unknown) => {
          await from.rename(moved, folder);
          throw error;
        });
      } catch (error) {
        await to.rename(target, incoming);
        throw error;
      }
    } finally {
      await removeTree(to, incoming);
    }
    this.#log.info(
      `${path.join(from.path, folder)} was moved to ${path.join(to.path, target)}, where it outlives a container`,
    );
    await this.#removeMoved(from, folder);
  }

  /** Removes what is left of a folder whose data is in the target. A failure is logged; the next start tries again. */
  async #removeMoved(from: GuardedDirectory, folder: string): Promise<void> {
    for (const name of madeNames(movedPrefix(folder), await from.names())) {
      try {
        // The link must be on the disk before.
        await from.sync();
        await removeTree(from, name);
      } catch (error) {
        const rest = path.join(from.path, name);
        this.#log.warn(`${folder} was moved, but ${rest}, which is left of it, cannot be removed; remove it`, error);
      }
    }
  }
}

/** How the names begin under which a folder waits for its removal. */
function movedPrefix(folder: string): string {
  return `.moved-${folder}-`;
}

function madeName(prefix: string): string {
  return prefix + randomBytes(4).toString('hex');
}

/** Those of the names that `madeName` may have made with the prefix. */
function madeNames(prefix: string, names: readonly string[]): string[] {
  return names.filter(name => name.startsWith(prefix) && RANDOM_END.test(name.slice(prefix.length)));
}
