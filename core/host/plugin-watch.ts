// Watches the plugin directories and reports folders that appear, change or disappear by name, in batches.
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from '../contract/log.ts';
import { watchDirectories } from '../kit/directory-watch.ts';

const QUIET_MS = 200;
/** How long after a first change it is reported, even if changes never pause. */
const MAX_WAIT_MS = 10_000;
/** Reports of one folder per window: a plugin that writes to its folder when loaded would be reloaded without end. */
const MAX_REPORTS = 10;
const WINDOW_MS = 60_000;

export interface PluginWatch {
  readonly directories: readonly string[];
  /** Whether a folder of this name may be loaded; others are not looked into. */
  readonly isWanted: (name: string) => boolean;
  /** The folders of the plugins that are known. */
  readonly known: () => readonly string[];
  /** Unix time in milliseconds; changes after it, but before the watch, are reported too. */
  readonly sinceMs: number;
  readonly log: Logger;
  /** Called with the names of changed folders; with none when only a plugin directory itself changed. */
  readonly onChange: (names: ReadonlySet<string>) => void;
}

export interface PluginWatchesOptions extends Omit<PluginWatch, 'directories' | 'sinceMs'> {
  readonly directories: () => readonly string[];
}

/** The watches of all plugin directories, each of which can be added or left out by the configuration. */
export class PluginWatches {
  readonly #options: PluginWatchesOptions;
  /** The functions that end the watches, by directory. */
  readonly #ends = new Map<string, Promise<() => Promise<void>>>();
  #isOver = false;

  constructor(options: PluginWatchesOptions) {
    this.#options = options;
  }

  /** Watches the directories as they are now. Resolves once every later change will be noticed. */
  async adjust(sinceMs = Date.now()): Promise<void> {
    if (this.#isOver) return;
    const { directories, known } = this.#options;
    const wanted = new Set(directories());
    const others = [...this.#ends].filter(([directory]) => !wanted.has(directory));
    for (const [directory] of others) this.#ends.delete(directory);
    for (const directory of wanted) {
      if (this.#ends.has(directory)) continue;
      const own = () => known().filter(folder => path.dirname(folder) === directory);
      const end = watchPluginFolders({ ...this.#options, directories: [directory], known: own, sinceMs });
      this.#ends.set(directory, end);
    }
    await Promise.all([...others.map(async ([, end]) => (await end)()), ...this.#ends.values()]);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all([...this.#ends.values()].map(async end => (await end)()));
  }
}

/** Resolves once every later change will be noticed. */
export async function watchPluginFolders({
  directories,
  isWanted,
  known,
  sinceMs,
  log,
  onChange,
}: PluginWatch): Promise<() => Promise<void>> {
  if (directories.length === 0) return async () => undefined;
  let changed = new Set<string>();
  /** The time of the first change that is not reported yet. */
  let firstMs: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  const limit = new ReportLimit(log);
  const report = (): void => {
    const names = new Set<string>();
    const later = new Set<string>();
    for (const name of changed) (limit.allows(name) ? names : later).add(name);
    const isDirectory = changed.size === 0;
    changed = later;
    firstMs = undefined;
    if (names.size > 0 || isDirectory) onChange(names);
    if (later.size > 0) wait(limit.pauseMs(later));
  };
  const wait = (ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(report, ms);
    timer.unref();
  };
  /** The name of the plugin folder that holds the file; empty for a plugin directory itself. */
  const folderOf = (file: string): string | undefined => {
    const directory = directories.find(candidate => file === candidate || file.startsWith(candidate + path.sep));
    return directory === undefined ? undefined : path.relative(directory, file).split(path.sep, 1)[0];
  };
  const isForeign = (file: string): boolean => {
    const name = folderOf(file) ?? '';
    return name !== '' && !isWanted(name);
  };
  const unwatch = await watchDirectories({
    directories,
    depth: 4,
    sinceMs,
    // The packages that a plugin uses, and the source maps of a build, are not its own code.
    ignored: file => file.includes(`${path.sep}node_modules${path.sep}`) || file.endsWith('.map') || isForeign(file),
    log,
    onChange(file) {
      const name = folderOf(file);
      if (name === undefined) return;
      if (name !== '') changed.add(name);
      const now = performance.now();
      firstMs ??= now;
      wait(Math.max(0, Math.min(QUIET_MS, firstMs + MAX_WAIT_MS - now)));
    },
  });
  // Changes before the watch are found by modification times, which a directory that is gone does not have.
  const places = new Set(known().map(folder => path.dirname(folder)));
  const there = await Promise.all([...places].map(place => stat(place).catch(() => undefined)));
  if (there.includes(undefined) || (await holdUnknown(directories, { isWanted, known }))) wait(QUIET_MS);
  return async () => {
    clearTimeout(timer);
    await unwatch();
  };
}

/**
 * Whether there are folders that are not known. One that has come right after the look for plugins may have an earlier
 * time than that, because the clock of file systems lags behind.
 */
async function holdUnknown(
  directories: readonly string[],
  { isWanted, known }: Pick<PluginWatch, 'isWanted' | 'known'>,
): Promise<boolean> {
  const folders = new Set(known());
  const lists = await Promise.all(
    directories.map(async directory => {
      const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
      return entries
        .filter(entry => !entry.isFile() && isWanted(entry.name))
        .map(({ name }) => path.join(directory, name));
    }),
  );
  return lists.flat().some(folder => !folders.has(folder));
}

/** Limits how often each folder is reported. */
class ReportLimit {
  readonly #log: Logger;
  readonly #times = new Map<string, number[]>();
  readonly #told = new Set<string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Whether the folder may be reported now. Counts the report if so; logs the first one that is not allowed. */
  allows(name: string): boolean {
    const times = this.#recent(name);
    if (times.length < MAX_REPORTS) {
      times.push(performance.now());
      if (times.length === 1) this.#told.delete(name);
      return true;
    }
    if (!this.#told.has(name))
      this.#log.warn(
        `the folder of ${name} changes all the time; it is loaded anew ${MAX_REPORTS} times a minute at most: ` +
          'what a plugin writes belongs elsewhere',
      );
    this.#told.add(name);
    return false;
  }

  /** Milliseconds until the first of these folders may be reported again. */
  pauseMs(names: ReadonlySet<string>): number {
    const oldest = [...names].map(name => this.#recent(name)[0] ?? 0);
    return Math.max(0, Math.min(...oldest) + WINDOW_MS - performance.now());
  }

  #recent(name: string): number[] {
    const since = performance.now() - WINDOW_MS;
    const times = (this.#times.get(name) ?? []).filter(time => time > since);
    this.#times.set(name, times);
    return times;
  }
}
