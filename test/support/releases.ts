// A folder of releases as the plugin `installs` manages it, for tests of what a crash leaves behind.
import { FolderRecords } from '../../plugins/installs/folder-records.ts';
import { ReleaseFolder } from '../../plugins/installs/release-folder.ts';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const release = { version: 'new', installedAt: 2 };
const kept = { keeps: new Set(['data', 'lib/cache']), clears: true };
/** Arguments of a swap: the new release, what is kept, and the release before it. */
export const SWAP = [release, kept, { version: 'old', installedAt: 1 }] as const;

export async function openReleases(configDir: string, directory: string): Promise<ReleaseFolder> {
  const records = new FolderRecords(configDir, quiet);
  await records.load();
  return new ReleaseFolder({ directory, records, log: quiet });
}
