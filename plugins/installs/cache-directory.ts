// The cache directories of package managers: one for each user, because a build runs what an earlier one has cached.
import path from 'node:path';
import { GuardedDirectory } from '#kit/guarded-directory';
import { reachOf } from '#kit/service-user';
import type { InstallUser } from './contract.ts';

/** Below the configuration directory. */
export const CACHES_DIRECTORY = 'install-caches';

/** Creates the cache directory of the user. Gives `instead` when the user cannot reach the configuration directory. */
export async function cacheDirectory(configDir: string, user: InstallUser, instead: string): Promise<string> {
  const directory = path.join(configDir, CACHES_DIRECTORY, user === null ? 'own' : `${user.uid}-${user.gid}`);
  // The parent directory belongs to the host, so that no other user can create directories in it.
  (await GuardedDirectory.open(path.dirname(directory), {})).close();
  (await GuardedDirectory.open(directory, { mode: 0o700, owner: user })).close();
  const [reach] = await reachOf([{ place: directory, use: 'enter' }], user ?? undefined);
  return reach === 'open' ? directory : instead;
}
