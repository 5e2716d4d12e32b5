// One entry of a snapshot as its line of the manifest.
import { jsonMember, type RawPath } from '../places/raw-path.ts';

/** A comma, a newline and the entry, raw. `exists` is null when the target was not looked at. */
export function entryLine(linkPath: RawPath, target: RawPath, exists: boolean | null): RawPath {
  return `,\n{${jsonMember('link_path', linkPath)},${jsonMember('target', target)},"target_exists":${exists}}`;
}
