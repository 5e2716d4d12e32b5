// Watches a directory and those below it by inotify, with one watch for each directory, however many files it holds.
import { type FSWatcher, type Stats, watch } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { requireAnswer } from './answering.ts';

export interface Watching {
  ignored(file: string): boolean;
  /** Receives the path of what has changed, sometimes more than once for one change. */
  onChange(file: string): void;
  /** Called with the error that keeps a directory or the target of a link from being watched. */
  onError(error: unknown): void;
}

/** Whether a file that is found when a watch begins is reported as a change. */
export type IsNews = (stats: Stats) => boolean;

export class WatchedDirectory {
  readonly #place: string;
  /** Levels of subdirectories that are watched too. */
  readonly #depth: number;
  readonly #watching: Watching;
  readonly #below = new Map<string, WatchedDirectory>();
  /** Watches of the files elsewhere that links lead to, by the names of the links. */
  readonly #linked = new Map<string, FSWatcher>();
  #watcher: FSWatcher | undefined;
  #isClosed = false;

  constructor(place: string, depth: number, watching: Watching) {
    this.#place = place;
    this.#depth = depth;
    this.#watching = watching;
  }

  /** Resolves once every later change will be noticed; false when there is no directory. */
  async open(isNews: IsNews): Promise<boolean> {
    try {
      // The watch begins before the look, so that nothing falls between them.
      this.#watcher = this.#watch(this.#place, (event, name) => this.#changed(event, name));
      const names = await readdir(this.#place);
      await Promise.all(names.map(name => this.#look(name, isNews)));
      return true;
    } catch (error) {
      const isGone = ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
      this.close();
      if (!isGone) this.#watching.onError(error);
      return !isGone;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#watcher?.close();
    for (const name of [...this.#below.keys(), ...this.#linked.keys()]) this.#forget(name);
  }

  #watch(place: string, onEvent: (event: string, name: string) => void): FSWatcher {
    return watch(place, { persistent: false })
      .on('change', (event, name) => onEvent(event, String(name)))
      .on('error', error => this.#watching.onError(error));
  }

  #changed(event: string, name: string): void {
    const file = path.join(this.#place, name);
    if (this.#watching.ignored(file)) return;
    // A change of a subdirectory's attributes says nothing about its content.
    if (event === 'change' && this.#below.has(name)) return;
    this.#watching.onChange(file);
    if (event !== 'rename') return;
    this.#forget(name);
    void this.#look(name, () => true);
  }

  async #look(name: string, isNews: IsNews): Promise<void> {
    const file = path.join(this.#place, name);
    if (this.#watching.ignored(file)) return;
    const entry = await lstat(file).catch(() => undefined);
    const stats = entry?.isSymbolicLink() ? await targetOf(file) : entry;
    if (entry === undefined || stats === undefined || this.#isClosed) return;
    // The target of a new link may be old, so both are looked at.
    if (isNews(entry) || isNews(stats)) this.#watching.onChange(file);
    if (stats.isDirectory() && this.#depth > 0) await this.#enter(name, isNews);
    else if (stats.isFile() && entry.isSymbolicLink()) this.#follow(name);
  }

  async #enter(name: string, isNews: IsNews): Promise<void> {
    this.#forget(name);
    const directory = new WatchedDirectory(path.join(this.#place, name), this.#depth - 1, this.#watching);
    this.#below.set(name, directory);
    await directory.open(isNews);
  }

  #follow(name: string): void {
    const file = path.join(this.#place, name);
    this.#forget(name);
    try {
      this.#linked.set(
        name,
        this.#watch(file, () => this.#watching.onChange(file)),
      );
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#watching.onError(error);
    }
  }

  #forget(name: string): void {
    this.#below.get(name)?.close();
    this.#below.delete(name);
    this.#linked.get(name)?.close();
    this.#linked.delete(name);
  }
}

/** What a link leads to; undefined for nothing, and for a place on a mount that does not answer. */
async function targetOf(link: string): Promise<Stats | undefined> {
  try {
    await requireAnswer([link]);
    return await stat(link);
  } catch {
    return undefined;
  }
}
