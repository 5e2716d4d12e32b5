// Removes the temporary links of an interrupted run.
import { readdirSync } from 'node:fs';
import { HeldDirectory } from './held-directory.ts';
import type { RawPath } from './raw-path.ts';
import { realPlace } from './real-places.ts';
import { isTemporaryName } from './temporary-name.ts';

/** Removes the temporary links of a run from one directory. */
export function removeLeftLinks(shown: RawPath, runId: string): void {
  let directory: HeldDirectory;
  try {
    directory = HeldDirectory.open(realPlace(shown));
  } catch {
    // Nothing can be removed from a directory that cannot be opened.
    return;
  }
  try {
    for (const name of readdirSync(directory.at('.'), { encoding: 'latin1' }))
      if (isTemporaryName(name, runId) && directory.entry(name)?.isSymbolicLink() === true) directory.remove(name);
  } finally {
    directory.close();
  }
}
