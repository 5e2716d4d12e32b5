// Decides which user mounts. rclone runs commands that its file or its remote control gives it, so it runs as the
// services' user if that user may mount. Otherwise it runs as root, and uses only files that no other user can write.
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { Problem } from '#core';
import { runChild } from '#kit/fs-out-of-process';
import { type FileOwner, GuardedDirectory } from '#kit/guarded-directory';
import { PrivateDirectory } from '#kit/private-directory';
import type { SetupContext } from '../setup/contract.ts';
import { distrustOfWay } from './mount-place.ts';

const LIMIT_MS = 5_000;
const SETUID = 0o4000;
const FUSE_CONFIG = '/etc/fuse.conf';
const OPENS_FUSE = 'exec 3<>/dev/fuse';
/** Checks the folders of the cache, too: an rclone that ran as root may have left some that only root may use. */
const MAY_WRITE = 'for place; do [ ! -e "$place" ] || [ -w "$place" ] || exit 1; done';

/** Why `user` cannot mount for other users without root, as the end of a sentence after "because"; null if it can. */
export async function mountObstacle(
  user: FileOwner,
  searchPath: string,
  place: string,
  cache: string,
): Promise<string | null> {
  const helpers = searchPath
    .split(':')
    .flatMap(directory => ['fusermount3', 'fusermount'].map(name => path.join(directory, name)));
  const modes = await Promise.all(helpers.map(file => stat(file).catch(() => null)));
  if (!modes.some(entry => entry !== null && entry.uid === 0 && (entry.mode & SETUID) !== 0))
    return 'fusermount3 is not installed with the rights of root';
  const settings = await readFile(FUSE_CONFIG, 'utf8').catch(() => '');
  if (!/^[ \t]*user_allow_other[ \t]*$/m.test(settings)) return `${FUSE_CONFIG} has no line user_allow_other`;
  const succeeds = async (script: string, ...words: string[]) =>
    (await runChild('sh', ['-c', script, 'sh', ...words], LIMIT_MS, user)).code === 0;
  if (!(await succeeds(OPENS_FUSE))) return 'it may not open /dev/fuse';
  if (!(await succeeds(MAY_WRITE, place, cache, path.join(cache, 'vfs'))))
    return `it may not write to ${place} and ${cache}`;
  return null;
}

/**
 * Makes the command read a copy of its remote that only root can write, and keep its cache beside that copy. Throws a
 * Problem 409 that says what to do when another user could replace the mount point.
 */
export async function guardMount(
  { plan, block: { processName }, fill }: SetupContext,
  section: Readonly<Record<string, string>>,
  configDir: string,
): Promise<void> {
  const parent = fill('{mount_dir}');
  (await GuardedDirectory.open(parent, {})).close();
  const reason = await distrustOfWay(parent);
  if (reason !== null) {
    const detail = `${processName} was not started: ${reason}, who could lead the mount elsewhere; let only root write there, or let the services' user mount by itself (user_allow_other in ${FUSE_CONFIG}, and /dev/fuse open to it)`;
    throw new Problem(409, detail);
  }
  const name = fill('{mount_name}');
  const own = await PrivateDirectory.open(configDir, ['data', 'service-rclone', encodeURIComponent(processName)]);
  try {
    await own.replace('rclone.conf', sectionText(name, section, processName));
    plan.argv = plan.argv.map(word => {
      if (word.startsWith('--config=')) return `--config=${path.join(own.path, 'rclone.conf')}`;
      return word.startsWith('--cache-dir=') ? `--cache-dir=${path.join(own.path, 'cache')}` : word;
    });
  } finally {
    await own.close();
  }
}

function sectionText(name: string, section: Readonly<Record<string, string>>, processName: string): string {
  const lines = [`[${name}]`, ...Object.entries(section).map(([key, value]) => `${key} = ${value}`)];
  if (lines.some(line => /\p{Cc}/u.test(line)))
    throw new Problem(400, `${processName}: its remote has control characters; remove them from its options`);
  return `${lines.join('\n')}\n`;
}
