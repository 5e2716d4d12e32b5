// Watches the plugin directories and reports folders that appear, change or disappear by name, in batches.
import path from 'node:path';
import type { Logger } from '../contract/log.ts';
import { watchDirectories } from '../kit/directory-watch.ts';

const QUIET_MS = 200;

/**
 * Resolves once every later change will be noticed; what has changed since `sinceMs`, in Unix time, is reported too. The
 * names are none when the directory itself changed.
 */
export async function watchPluginFolders(
  directories: readonly string[],
  sinceMs: number,
  log: Logger,
  onChange: (names: ReadonlySet<string>) => void,
): Promise<() => Promise<void>> {
  if (directories.length === 0) return async () => undefined;
  let changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const report = (): void => {
    const names = changed;
    changed = new Set();
    onChange(names);
  };
  const unwatch = await watchDirectories({
    directories,
    depth: 4,
    sinceMs,
    // What the packages of a plugin hold, and the source maps of a build, are no code of its own.
    ignored: file => file.includes(`${path.sep}node_modules${path.sep}`) || file.endsWith('.map'),
    log,
    onChange(file) {
      const directory = directories.find(candidate => file === candidate || file.startsWith(candidate + path.sep));
      if (directory === undefined) return;
      const [name = ''] = path.relative(directory, file).split(path.sep);
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
