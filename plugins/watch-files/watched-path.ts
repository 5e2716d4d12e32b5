// One watched path: the file or directory that is there, with all that is below it, and whatever takes its place later.
import { lstat, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { watchDirectories } from '#kit/directory-watch';

const POLL_INTERVAL_MS = 2_000;
/** The codes of errors by which the kernel refuses more watches. */
const NO_WATCHES: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EMFILE']);

export interface PathListeners {
  readonly ignored: (file: string) => boolean;
  readonly onChange: (file: string) => void;
  /** Called with the error that keeps something at the path from being watched. */
  readonly onError: (error: unknown) => void;
  /** Called when no watches are left, and changes are looked for at this interval. */
  readonly onPolling: (intervalMs: number) => void;
}

export class WatchedPath {
  readonly #place: string;
  readonly #listeners: PathListeners;
  #tree: FSWatcher | undefined;
  /** Distinguishes what is at the path from something else at its place; empty while there is nothing. */
  #identity = '';
  /** Looks at the path come one after the other. */
  #looks: Promise<void> = Promise.resolve();

  constructor(place: string, listeners: PathListeners) {
    this.#place = place;
    this.#listeners = listeners;
  }

  /** Resolves once every later change will be noticed; false when there is nothing at the path yet. */
  async open(): Promise<boolean> {
    const above = path.dirname(this.#place);
    // A watch of the path itself ends with what is there, and does not see what comes in its place.
    if (above !== this.#place)
      await watchDirectories({
        directories: [above],
        depth: 0,
        ignored: file => file !== this.#place,
        onChange: () => this.#look(),
        // Where the directory above cannot be watched, as one that only others may list, the path itself still is.
        log: { warn: () => undefined },
      });
    this.#looks = this.#looks.then(() => this.#watch());
    await this.#looks;
    return this.#identity !== '';
  }

  #look(): void {
    this.#looks = this.#looks.then(async () => {
      if ((await identityOf(this.#place)) === this.#identity) return;
      if (!this.#listeners.ignored(this.#place)) this.#listeners.onChange(this.#place);
      await this.#watch();
    });
  }

  /** Watches what is at the path now. */
  async #watch(): Promise<void> {
    do {
      this.#identity = await identityOf(this.#place);
      await this.#tree?.close();
      this.#tree = undefined;
      const real = this.#identity === '' ? undefined : await realpath(this.#place).catch(() => undefined);
      if (real !== undefined) await this.#follow(real);
      // Something else may have come meanwhile.
    } while ((await identityOf(this.#place)) !== this.#identity);
  }

  /**
   * `real` is where the path leads. Files are reported, and ignored, by the path; ignored by their real places too.
   * Network mounts do not report changes by inotify; the variable selects polling for them.
   */
  #follow(real: string, usePolling = process.env.STACKWARDEN_WATCH_POLLING === '1'): Promise<void> {
    const { ignored, onChange, onError } = this.#listeners;
    const byPath = (file: string): string => path.join(this.#place, path.relative(real, file));
    const tree = watch(real, {
      ignoreInitial: true,
      followSymlinks: false,
      ignorePermissionErrors: true,
      usePolling,
      interval: POLL_INTERVAL_MS,
      ignored: file => ignored(file) || ignored(byPath(file)),
    });
    this.#tree = tree;
    tree.on('all', (_event, file) => onChange(byPath(file)));
    let isReady = false;
    return new Promise(resolve => {
      tree.once('ready', () => {
        isReady = true;
        resolve();
      });
      tree.on('error', error => {
        if (usePolling || !NO_WATCHES.has((error as NodeJS.ErrnoException).code)) onError(error);
        else if (isReady) this.#looks = this.#looks.then(() => this.#poll(real, tree));
        else resolve(this.#poll(real, tree));
      });
    });
  }

  /** Polls in place of a watch for which no more watches are left. It reports an error for each of them. */
  async #poll(real: string, tree: FSWatcher): Promise<void> {
    if (this.#tree !== tree) return;
    this.#tree = undefined;
    this.#listeners.onPolling(POLL_INTERVAL_MS);
    await tree.close();
    await this.#follow(real, true);
  }
}

/**
 * Holds the times of birth, because the inode number of what was removed is soon given to another; and a link's own,
 * beside those of what it leads to.
 */
async function identityOf(place: string): Promise<string> {
  const looks = [lstat, stat].map(look => look(place, { bigint: true }).catch(() => undefined));
  const [entry, target] = await Promise.all(looks);
  if (entry === undefined || target === undefined) return '';
  return [entry, target].map(({ dev, ino, birthtimeNs }) => `${dev}:${ino}:${birthtimeNs}`).join();
}
