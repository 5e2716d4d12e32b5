// Unmounts what stopped mount providers have left mounted, at the end of a shutdown, so that nothing blocks on a dead
// mount.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Logger, NamedBlock } from '#core';
import { readMounts } from '#kit/mountinfo';

const run = promisify(execFile);
const LIMIT_MS = 5_000;

/** Unmounts only FUSE file systems at or below paths that a block configures as its own mounts. */
export async function unmountLeftovers(blocks: readonly NamedBlock[], log: Logger): Promise<void> {
  const roots = blocks.flatMap(({ block }) => mountPathsOf(block));
  const left = (await readMounts()).filter(
    ({ directory, type }) =>
      type.startsWith('fuse') && roots.some(root => directory === root || directory.startsWith(`${root}/`)),
  );
  // Inner mounts come first.
  for (const { directory } of left.toReversed()) {
    try {
      await unmount(directory);
      log.info(`${directory} was left mounted and was taken off`);
    } catch (error) {
      log.error(`${directory} is still mounted`, error);
    }
  }
}

function mountPathsOf({ mount_path: whole, mount_dir: directory, mount_name: name }: NamedBlock['block']): string[] {
  const joined = typeof directory === 'string' && typeof name === 'string' ? path.join(directory, name) : undefined;
  return [whole, joined]
    .filter(value => typeof value === 'string' && path.isAbsolute(value) && path.normalize(value) !== '/')
    .map(value => path.normalize(String(value)).replace(/(?<!\/)\/+$/, ''));
}

async function unmount(directory: string): Promise<void> {
  const limits = { timeout: LIMIT_MS, killSignal: 'SIGKILL' } as const;
  await run('umount', [directory], limits).catch(() => run('umount', ['--lazy', directory], limits));
}
