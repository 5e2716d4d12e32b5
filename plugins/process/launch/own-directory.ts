// The working directory of a service whose block names none: never that of the host, which may hold anything.
import path from 'node:path';
import type { Logger } from '#core';
import { lacksDescriptors } from '#kit/descriptors';
import { GuardedDirectory } from '#kit/guarded-directory';
import { serviceDirectory } from '#kit/slug';
import type { LaunchPlan } from '../contract.ts';

/** Where a service runs whose own directory cannot be made, or not be reached by its user. */
export const FALLBACK = '/';

/** `{configDir}/services/<slug>`, which is made for the service's user. Throws for want of descriptors. */
export async function ownDirectory({ processName, user }: LaunchPlan, configDir: string, log: Logger): Promise<string> {
  try {
    const directory = serviceDirectory(configDir, processName);
    // The directory above stays the host's, so that nobody else makes directories there.
    (await GuardedDirectory.open(path.dirname(directory), {})).close();
    (await GuardedDirectory.open(directory, { mode: 0o750, owner: user })).close();
    return directory;
  } catch (error) {
    if (lacksDescriptors(error)) throw error;
    log.warn(`${processName} runs in ${FALLBACK}, because it gets no directory of its own`, error);
    return FALLBACK;
  }
}
