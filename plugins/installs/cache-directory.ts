// Where package managers keep what later builds use: a directory for each user, because what one has written there,
// another would run.
import path from 'node:path';
import { GuardedDirectory } from '#kit/guarded-directory';
import { reachOf } from '#kit/service-user';
import type { InstallUser } from './contract.ts';

/** Below the configuration directory. */
export const CACHES_DIRECTORY = 'install-caches';

/** `instead` where the user cannot reach the configuration directory. */
export async function cacheDirectory(configDir: string, user: InstallUser, instead: string): Promise<string> {
  const directory = path.join(configDir, CACHES_DIRECTORY, user === null ? 'own' : `${user.uid}-${user.gid}`);
  // The directory above stays the host's, so that nobody else makes directories there.
  (await GuardedDirectory.open(path.dirname(directory), {})).close();
  (await GuardedDirectory.open(directory, { mode: 0o700, owner: user })).close();
  const [reach] = await reachOf([{ place: directory, use: 'enter' }], user ?? undefined);
  return reach === 'open' ? directory : instead;
}
