// The working directory of a service whose block names none: never that of the host, which may hold anything.
import path from 'node:path';
import type { Logger } from '#core';
import { GuardedDirectory } from '#kit/guarded-directory';
import { reachOf } from '#kit/service-user';
import type { LaunchPlan } from '../contract.ts';
import { slugOf } from '../slug.ts';

const FALLBACK = '/';

/**
 * `{configDir}/services/<slug>`, which is made for the service's user; the root directory where that user does not get
 * there.
 */
export async function ownDirectory({ processName, user }: LaunchPlan, configDir: string, log: Logger): Promise<string> {
  try {
    const directory = path.join(configDir, 'services', slugOf(processName));
    await makeFor(directory, user);
    const [reach] = await reachOf([{ place: directory, use: 'enter' }], user ?? undefined);
    return reach === 'open' ? directory : FALLBACK;
  } catch (error) {
    log.warn(`${processName} runs in ${FALLBACK}, because it gets no directory of its own`, error);
    return FALLBACK;
  }
}

/** The directory above stays the host's, so that nobody else makes directories there. */
async function makeFor(directory: string, owner: LaunchPlan['user']): Promise<void> {
  (await GuardedDirectory.open(path.dirname(directory), {})).close();
  (await GuardedDirectory.open(directory, { mode: 0o750, owner })).close();
}
