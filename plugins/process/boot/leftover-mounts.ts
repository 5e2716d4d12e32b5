// Unmounts what stopped mount providers have left mounted, at the end of a shutdown, so that nothing blocks on a dead
// mount.
import path from 'node:path';
import type { Logger, NamedBlock } from '#core';
import { listedPath, type Mount, readMounts } from '#kit/mountinfo';
import { unmount } from '#kit/unmount';

/** Unmounts only FUSE file systems at or below paths that a block configures as its own mounts. */
export async function unmountLeftovers(blocks: readonly NamedBlock[], log: Logger): Promise<void> {
  const roots = blocks.flatMap(({ block }) => mountPathsOf(block));
  const isLeft = ({ directory, type }: Mount): boolean =>
    type.startsWith('fuse') && roots.some(root => directory === root || directory.startsWith(`${root}/`));
  const left = (await readMounts()).filter(isLeft);
  // An outer mount is unmounted together with its inner ones: when it is dead, they cannot be reached through it.
  const outer = left.filter(({ directory }) => !left.some(other => directory.startsWith(`${other.directory}/`)));
  // Of several mounts on one directory, the newest is unmounted first.
  for (const { directory } of outer.toReversed()) {
    try {
      if (await unmount(directory, isLeft)) log.info(`${directory} was left mounted and was taken off`);
      else log.error(`${directory} is still mounted: something else is mounted there now, so take both off`);
    } catch (error) {
      log.error(`${directory} is still mounted`, error);
    }
  }
}

function mountPathsOf({ mount_path: whole, mount_dir: directory, mount_name: name }: NamedBlock['block']): string[] {
  const joined = typeof directory === 'string' && typeof name === 'string' ? path.join(directory, name) : undefined;
  return [whole, joined]
    .filter(value => typeof value === 'string' && path.isAbsolute(value) && listedPath(value) !== '/')
    .map(value => listedPath(String(value)));
}
