// The wire form of the release that is installed for a process.
import { z } from 'zod';
import type { InstalledRelease } from './contract.ts';

export const installInfo = z.lazy(() =>
  z.object({
    version: z.string().nullable().describe('null for what was there before the first installation'),
    installed_at: z.number().nullable().describe('Unix seconds'),
    previous_version: z.string().nullable().describe('what the present one took the place of'),
    shared_with: z.array(z.string()).describe('other processes that run from the same folder'),
  }),
);

export function installInfoOf({
  version,
  installedAt,
  previousVersion,
  sharedWith,
}: InstalledRelease): z.input<typeof installInfo> {
  return {
    version,
    installed_at: installedAt,
    previous_version: previousVersion,
    shared_with: [...sharedWith],
  };
}
