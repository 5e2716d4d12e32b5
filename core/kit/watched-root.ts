// A directory that inotify watches whenever it is there: it may be missing, and may go and come back.
import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { type IsNews, WatchedDirectory, type Watching } from './watched-directory.ts';

export class WatchedRoot {
  readonly #directory: string;
  readonly #depth: number;
  readonly #watching: Watching;
  #tree: WatchedDirectory | undefined;
  /** Tells the directory from another one at its place. */
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
  async open(isNewsAtFirst: IsNews): Promise<void> {
    const { ignored, onChange, onError } = this.#watching;
    let isNews = isNewsAtFirst;
    // The kernel tells by its own name that the directory has gone.
    const itself = path.join(this.#directory, path.basename(this.#directory));
    while (!this.#isClosed) {
      this.#tree?.close();
      this.#identity = await identityOf(this.#directory);
      this.#tree = new WatchedDirectory(this.#directory, this.#depth, {
        ignored: file => file !== itself && ignored(file),
        onChange: file => {
          if (file === itself) this.#look();
          else onChange(file);
        },
        onError,
      });
      const isOpen = await this.#tree.open(isNews);
      if (this.#isClosed) return;
      if (isOpen && (this.#identity === '' || (await identityOf(this.#directory)) !== this.#identity)) {
        // It has come or gone, or another one has come, meanwhile.
        onChange(this.#directory);
        isNews = () => true;
      } else if (isOpen) return this.#tellMissing(isNews);
      else if (await this.#waitAbove()) return;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#tree?.close();
    this.#above?.close();
  }

  /** What is no longer in the directory has no time of its own. */
  async #tellMissing(isNews: IsNews): Promise<void> {
    const stats = await stat(this.#directory).catch(() => undefined);
    if (stats !== undefined && isNews(stats)) this.#watching.onChange(this.#directory);
  }

  /** Watches the directory anew if it is another one, or none, and in any case when it `mayHaveCome`. */
  #look(mayHaveCome = false): void {
    this.#looks = this.#looks.then(async () => {
      if (this.#isClosed) return;
      if (!mayHaveCome && (await identityOf(this.#directory)) === this.#identity) return;
      this.#above?.close();
      this.#watching.onChange(this.#directory);
      await this.open(() => true);
    });
  }

  /** False when the next directory of the way is there already. */
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

/** Empty for what is no directory. With its birth, because the number of one that has gone is soon another's. */
async function identityOf(directory: string): Promise<string> {
  const stats = await stat(directory, { bigint: true }).catch(() => undefined);
  return stats?.isDirectory() ? `${stats.dev}:${stats.ino}:${stats.birthtimeNs}` : '';
}
