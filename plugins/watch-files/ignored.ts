// Decides which files below a watched path are ignored.
import path from 'node:path';
import { isBelow } from '#kit/path-below';

/** Always ignored: these hold thousands of files that change without a change of the program. */
const ALWAYS = ['.git', 'node_modules'];

/**
 * An absolute entry is that path, another one with a slash a path below `root`, and any other a name at any depth, in
 * which `*` stands for any text. Takes linear time.
 */
export function isIgnored(file: string, root: string, ignore: readonly string[]): boolean {
  if (!isBelow(file, root)) return false;
  const inside = path.relative(root, file);
  const names = inside.split(path.sep);
  return [...ALWAYS, ...ignore].some(entry => {
    if (path.isAbsolute(entry)) return isAt(file, entry);
    return entry.includes('/') ? isAt(inside, entry) : names.some(name => fits(name, entry));
  });
}

function isAt(file: string, entry: string): boolean {
  const place = path.normalize(entry).replace(/\/$/, '');
  return file === place || file.startsWith(`${place}/`);
}

function fits(name: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= name.length - last.length;
}
