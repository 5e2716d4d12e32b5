// One entry of a snapshot as its line of the manifest.
import { lostBytes, type RawPath, shownPath } from '../places/raw-path.ts';

/** What stands in JSON as it is. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** A comma, a newline and the entry. `exists` is null when the target was not looked at. */
export function entryLine(linkPath: RawPath, target: RawPath, exists: boolean | null): string {
  return `,\n{${members('link_path', linkPath)},${members('target', target)},"target_exists":${exists}}`;
}

function members(name: string, raw: RawPath): string {
  if (PLAIN.test(raw)) return `"${name}":"${raw}"`;
  const lost = lostBytes(raw);
  const text = `"${name}":${JSON.stringify(shownPath(raw))}`;
  return lost === undefined ? text : `${text},"${name}_b64":"${lost}"`;
}
