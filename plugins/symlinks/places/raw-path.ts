// Paths and targets as raw texts, with one character for each byte, so that names that are not UTF-8 are kept and texts
// compare by their bytes.
import path from 'node:path';

/** A text with one character for each byte of a path. */
export type RawPath = string;

/** The limit of the target of a link. */
export const MAX_TARGET_BYTES = 4_095;

const ASCII = /^[\0-\x7f]*$/;

export function rawOf(text: string): RawPath {
  return ASCII.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** The path in the form that file system calls take. */
export function diskPath(raw: RawPath): string | Buffer {
  return ASCII.test(raw) ? raw : Buffer.from(raw, 'latin1');
}

/** Returns a function that gives the path of a name in the directory, in the form that file system calls take. */
export function diskPathsIn(directory: RawPath): (name: RawPath) => string | Buffer {
  const isAscii = ASCII.test(directory);
  const begin = directory === '/' ? '/' : `${directory}/`;
  return name => {
    const raw = begin + name;
    return isAscii && ASCII.test(name) ? raw : Buffer.from(raw, 'latin1');
  };
}

/** The text that people see; bytes that are not UTF-8 become replacement characters. */
export function shownPath(raw: RawPath): string {
  return ASCII.test(raw) ? raw : Buffer.from(raw, 'latin1').toString('utf8');
}

/** The bytes in base64 if the shown text has lost some of them; otherwise undefined. */
export function lostBytes(raw: RawPath): string | undefined {
  if (ASCII.test(raw)) return undefined;
  return rawOf(shownPath(raw)) === raw ? undefined : Buffer.from(raw, 'latin1').toString('base64');
}

/** The raw text of a member of a line or a manifest; `<name>_b64` takes precedence if present. */
export function rawMember(line: Readonly<Record<string, unknown>>, name: string): RawPath | undefined {
  const [bytes, text] = [line[`${name}_b64`], line[name]];
  if (typeof bytes === 'string') return Buffer.from(bytes, 'base64').toString('latin1');
  return typeof text === 'string' ? rawOf(text) : undefined;
}

const PLAIN = /^[ !#-[\]-~]*$/;

/** Whether the text can be written into JSON unchanged. */
export function isPlain(raw: RawPath): boolean {
  return PLAIN.test(raw);
}

/** The raw text of a path as a value of JSON; bytes that are not UTF-8 become replacement characters. */
function jsonText(raw: RawPath): RawPath {
  return PLAIN.test(raw) ? `"${raw}"` : rawOf(JSON.stringify(shownPath(raw)));
}

/** The raw text of a path as a member of JSON. If it is not UTF-8, `<name>_b64` follows with its bytes. */
export function jsonMember(name: string, raw: RawPath): RawPath {
  // Most paths are plain. This is checked first, because each pass over a path costs as much as reading its link.
  if (PLAIN.test(raw)) return `"${name}":"${raw}"`;
  const bytes = lostBytes(raw);
  return `"${name}":${jsonText(raw)}${bytes === undefined ? '' : `,"${name}_b64":"${bytes}"`}`;
}

/**
 * One raw line of JSON with these members and `more`, the text of others with a comma before each. The bytes of a path
 * that is not UTF-8 are added twice: as `<name>_b64` for manifests, and in `raw_base64` for reports.
 */
export function jsonLine(paths: Readonly<Record<string, RawPath | null>>, more: RawPath = ''): RawPath {
  let members = '';
  let lost = '';
  for (const name in paths) {
    const raw = paths[name] ?? null;
    if (members !== '') members += ',';
    if (raw === null) members += `"${name}":null`;
    else if (PLAIN.test(raw)) members += `"${name}":"${raw}"`;
    else {
      members += jsonMember(name, raw);
      const bytes = lostBytes(raw);
      if (bytes !== undefined) lost += `,"${name}":"${bytes}"`;
    }
  }
  return `{${members}${more}${lost === '' ? '' : `,"raw_base64":{${lost.slice(1)}}`}}\n`;
}

/** The raw text of further members, for `more` of `jsonLine`. */
export function moreMembers(members: Readonly<Record<string, unknown>>): RawPath {
  return rawOf(`,${JSON.stringify(members).slice(1, -1)}`);
}

/** The absolute path of a target of a link in a directory, resolved as text only. */
export function resolved(directory: RawPath, target: RawPath): RawPath {
  // Most targets are resolved already, and this check costs a tenth of resolving.
  if (target.startsWith('/') && !target.includes('//') && !target.includes('/.') && !target.endsWith('/'))
    return target;
  return path.posix.resolve(directory, target);
}

/** Whether `place` is the directory or lies below it; both are normalised. */
export function isWithin(place: RawPath, directory: RawPath): boolean {
  return directory === '/' || place === directory || place.startsWith(`${directory}/`);
}

export function joined(directory: RawPath, name: RawPath): RawPath {
  if (name === '') return directory;
  return directory === '/' ? `/${name}` : `${directory}/${name}`;
}

/**
 * The target of a link that is moved from one real directory to another and must lead to the same place. Only relative
 * targets change, and only their leading `..` parts: after a name that is a link, `..` is not the parent in the text.
 */
export function relocatedTarget(target: RawPath, from: RawPath, to: RawPath): RawPath {
  if (target.startsWith('/') || from === to) return target;
  const parts = target.split('/');
  let base = from;
  while (parts[0] === '..' || parts[0] === '.' || (parts[0] === '' && parts.length > 1)) {
    if (parts[0] === '..') base = path.posix.dirname(base);
    parts.shift();
  }
  const rest = parts.join('/');
  const way = path.posix.relative(to, base);
  if (way === '') return rest === '' ? '.' : rest;
  return rest === '' ? way : `${way}/${rest}`;
}
