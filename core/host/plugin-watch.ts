// Watches the plugin directories and reports folders that appear, change or disappear by name, in batches.
import path from 'node:path';
import type { Logger } from '../contract/log.ts';
import { watchDirectories } from '../kit/directory-watch.ts';

const QUIET_MS = 200;

export interface PluginWatch {
  readonly directories: readonly string[];
  /** Whether a folder of this name may be loaded; others are not looked into. */
  readonly isWanted: (name: string) => boolean;
  /** Unix time; what has changed after it is reported too. */
  readonly sinceMs: number;
  readonly log: Logger;
  /** The names are none when the directory itself changed. */
  readonly onChange: (names: ReadonlySet<string>) => void;
}

/** Resolves once every later change will be noticed. */
export async function watchPluginFolders({
  directories,
  isWanted,
  sinceMs,
  log,
  onChange,
}: PluginWatch): Promise<() => Promise<void>> {
  if (directories.length === 0) return async () => undefined;
  let changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const report = (): void => {
    const names = changed;
    changed = new Set();
    onChange(names);
  };
  /** Empty for the directory of plugins itself. */
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
    // What the packages of a plugin hold, and the source maps of a build, are no code of its own.
    ignored: file => file.includes(`${path.sep}node_modules${path.sep}`) || file.endsWith('.map') || isForeign(file),
    log,
    onChange(file) {
      const name = folderOf(file);
      if (name === undefined) return;
      if (name !== '') changed.add(name);
      clearTimeout(timer);
      timer = setTimeout(report, QUIET_MS);
      timer.unref();
    },
  });
  return async () => {
    clearTimeout(timer);
    await unwatch();
  };
}
