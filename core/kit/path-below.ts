// Whether a path lies below a directory, by their names alone: links are not followed.
import path from 'node:path';

/** Both paths are absolute. False for the directory itself. A name may begin with two dots, as `..data` does. */
export function isBelow(place: string, directory: string): boolean {
  const relative = path.relative(directory, place);
  return relative !== '' && relative !== '..' && !relative.startsWith('../');
}
