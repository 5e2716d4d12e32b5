// Watches a directory by inotify whenever it exists: it may be missing at first, and may go and come back.
import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { type IsNews, WatchedDirectory, type Watching } from './watched-directory.ts';

export class WatchedRoot {
  readonly #directory: string;
  readonly #depth: number;
  readonly #watching: Watching;
  #tree: WatchedDirectory | undefined;
  /** Distinguishes the directory from another one at its place; empty while there is none. */
  #identity = '';
  /** The watch of the nearest directory above, while this one is missing. */
  #above: FSWatcher | undefined;
  /** Looks at the directory come one after the other. */
  #looks: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(directory: string, depth: number, watching: Watching) {
    this.#directory = directory;
    this.#depth = depth;
    this.#watching = watching;
  }

  /** Resolves once every later change will be noticed. */
  open(isNews: IsNews): Promise<void> {
    return this.#open(isNews, false);
  }

  /** `isTold` is whether the directory was reported, which may have gone since. */
  async #open(isNewsAtFirst: IsNews, isToldAtFirst: boolean): Promise<void> {
    const { onChange } = this.#watching;
    let isNews = isNewsAtFirst;
    let isTold = isToldAtFirst;
    while (!this.#isClosed) {
      this.#tree?.close();
      this.#identity = await identityOf(this.#directory);
      this.#tree = this.#newTree();
      const isOpen = await this.#tree.open(isNews);
      if (this.#isClosed) return;
      if (!isOpen) {
        if (isTold) onChange(this.#directory);
        isTold = false;
        if (await this.#waitAbove()) return;
        continue;
      }
      const isSame = this.#identity !== '' && (await identityOf(this.#directory)) === this.#identity;
      if (isSame) return this.#tellMissing(isNews);
      // Meanwhile the directory has come or gone, or has been replaced.
      onChange(this.#directory);
      isNews = () => true;
      isTold = true;
    }
  }

  #newTree(): WatchedDirectory {
    const { ignored, onChange, onError } = this.#watching;
    // The kernel reports the end of the directory under the directory's own name.
    const itself = path.join(this.#directory, path.basename(this.#directory));
    return new WatchedDirectory(this.#directory, this.#depth, {
      ignored: file => file !== itself && ignored(file),
      onChange: file => {
        if (file === itself) this.#look();
        // An entry may have the name of its directory.
        if (file !== itself || !ignored(file)) onChange(file);
      },
      onError,
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#tree?.close();
    this.#above?.close();
  }

  /** Reports a change of the directory itself: files that were removed from it have no time that could be news. */
  async #tellMissing(isNews: IsNews): Promise<void> {
    const stats = await stat(this.#directory).catch(() => undefined);
    if (stats !== undefined && isNews(stats)) this.#watching.onChange(this.#directory);
  }

  /** Watches the directory anew if it was replaced or is gone, and in any case when `mayHaveCome` is true. */
  #look(mayHaveCome = false): void {
    this.#looks = this.#looks.then(async () => {
      if (this.#isClosed) return;
      if (!mayHaveCome && (await identityOf(this.#directory)) === this.#identity) return;
      this.#above?.close();
      this.#watching.onChange(this.#directory);
      await this.#open(() => true, true);
    });
  }

  /** Watches the nearest existing directory above. False when the next directory on the way is there already. */
  async #waitAbove(): Promise<boolean> {
    let above = path.dirname(this.#directory);
    while ((await identityOf(above)) === '' && above !== path.dirname(above)) above = path.dirname(above);
    const [next = ''] = path.relative(above, this.#directory).split(path.sep, 1);
    if (this.#isClosed) return true;
    try {
      const watcher = watch(above, { persistent: false });
      this.#above = watcher.on('error', this.#watching.onError).on('change', (event, name) => {
        if (event !== 'rename' || (name !== next && name !== path.basename(above))) return;
        watcher.close();
        this.#look(true);
      });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      this.#watching.onError(error);
      return true;
    }
    const isThere = (await identityOf(path.join(above, next))) !== '';
    if (isThere) this.#above.close();
    return !isThere;
  }
}

/**
 * Empty for anything but a directory. It holds the time of birth, because the inode number of a removed directory is
 * soon given to another.
 */
async function identityOf(directory: string): Promise<string> {
  const stats = await stat(directory, { bigint: true }).catch(() => undefined);
  return stats?.isDirectory() ? `${stats.dev}:${stats.ino}:${stats.birthtimeNs}` : '';
}
