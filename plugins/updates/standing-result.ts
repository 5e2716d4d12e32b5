// A recorded result as it stands now: the program may have been replaced since the check.
import type { UpdateResult } from './update-result.ts';
import { isSameVersion } from './version-order.ts';

/**
 * The result without an update that is installed by now. `version` is that of the program, null while it is unknown.
 * Versions are not ordered here, because a program may tell its version in another form than its releases.
 */
export function standingResult(known: UpdateResult, version: string | null): UpdateResult {
  const { available_version: available, releases_behind: _behind, ...rest } = known;
  if (known.status !== 'update_available' || available === undefined || version === null) return known;
  if (!isSameVersion(available, version)) return known;
  // The release came otherwise: a start installs a missing program, and services can share a folder.
  const message = `${version} is installed, and nothing newer is known`;
  return { ...rest, status: 'no_update', current_version: version, message };
}
