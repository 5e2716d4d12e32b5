// Watches the plugin directories and reports folders that appear, change or disappear by name, in batches.
import path from 'node:path';
import type { Logger } from '../contract/log.ts';
import { watchDirectories } from '../kit/directory-watch.ts';

const QUIET_MS = 200;

/** Resolves once every later change will be noticed. */
export async function watchPluginFolders(
  directories: readonly string[],
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
    // What the packages of a plugin hold, and the source maps of a build, are no code of its own.
    ignored: file => file.includes(`${path.sep}node_modules${path.sep}`) || file.endsWith('.map'),
    log,
    onChange(file) {
      const directory = directories.find(candidate => file.startsWith(candidate + path.sep));
      const name = directory === undefined ? undefined : path.relative(directory, file).split(path.sep)[0];
      if (name === undefined) return;
      changed.add(name);
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
