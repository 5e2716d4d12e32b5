// One entry of a snapshot as its line of the manifest.
import { jsonText, lostBytes, type RawPath } from '../places/raw-path.ts';

/** A comma, a newline and the entry, raw. `exists` is null when the target was not looked at. */
export function entryLine(linkPath: RawPath, target: RawPath, exists: boolean | null): RawPath {
  return `,\n{${members('link_path', linkPath)},${members('target', target)},"target_exists":${exists}}`;
}

function members(name: string, raw: RawPath): RawPath {
  const text = `"${name}":${jsonText(raw)}`;
  const lost = lostBytes(raw);
  return lost === undefined ? text : `${text},"${name}_b64":"${lost}"`;
}
