// The entries of a snapshot as lines of the manifest.
import { isPlain, joined, jsonMember, type RawPath } from '../places/raw-path.ts';

/** The raw line of one entry: a comma, a newline and the entry. `exists` is null when the target was not looked at. */
type EntryLine = (name: RawPath, target: RawPath, exists: true | null) => RawPath;

/** Makes the lines of the links in one directory; their common part is made once. */
export function entryLinesIn(directory: RawPath): EntryLine {
  const ends = { found: '","target_exists":true}', notAsked: '","target_exists":null}' };
  const begin = `,\n{"link_path":"${directory === '/' ? '' : directory}/`;
  const isPlainDirectory = isPlain(directory);
  return (name, target, exists) => {
    if (isPlainDirectory && isPlain(name) && isPlain(target))
      return `${begin}${name}","target":"${target}${exists === null ? ends.notAsked : ends.found}`;
    const link = jsonMember('link_path', joined(directory, name));
    return `,\n{${link},${jsonMember('target', target)},"target_exists":${exists}}`;
  };
}
