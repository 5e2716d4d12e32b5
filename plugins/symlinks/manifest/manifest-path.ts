// The path of a manifest in a request.
import path from 'node:path';
import { Problem } from '#core';
import { checkedPath, type Places, snapshotDir } from '../places/path-rules.ts';

/** The longest name of a file, 255 bytes, less those of `.partial`, which is appended while it is written. */
const MAX_NAME_BYTES = 247;

/** The checked path of a manifest; a relative one is below the directory of snapshots. Throws a Problem 400. */
export function manifestPathOf(text: string, places: Places): string {
  const given = text.trim();
  if (given === '') throw new Problem(400, 'manifest_path is blank; give the path of a manifest.');
  return checkedPath(path.isAbsolute(given) ? given : path.join(snapshotDir(places), given), 'manifest_path', places);
}

/** The checked path of a manifest that is to be written. Throws a Problem 400. */
export function checkedManifestPath(text: string, what: string, places: Places): string {
  const place = checkedPath(text, what, places);
  if (!place.endsWith('.json')) throw new Problem(400, `${what} must end in .json.`);
  if (Buffer.byteLength(path.basename(place)) > MAX_NAME_BYTES)
    throw new Problem(
      400,
      `The name of the file in ${what} is longer than ${MAX_NAME_BYTES} bytes; use a shorter one.`,
    );
  return place;
}
