// The path of a manifest in a request.
import path from 'node:path';
import { Problem } from '#core';
import { checkedPath, type Places, snapshotDir } from '../places/path-rules.ts';

/** A relative path is one below the directory of snapshots. */
export function manifestPathOf(text: string, places: Places): string {
  const given = text.trim();
  if (given === '') throw new Problem(400, 'manifest_path is blank; give the path of a manifest.');
  return checkedPath(path.isAbsolute(given) ? given : path.join(snapshotDir(places), given), 'manifest_path', places);
}

/** The path of a manifest that is to be written. */
export function checkedManifestPath(text: string, what: string, places: Places): string {
  const place = checkedPath(text, what, places);
  if (!place.endsWith('.json')) throw new Problem(400, `${what} must end in .json.`);
  return place;
}
