// Finds a version in the text of a file or the output of a program. The text is not trusted: each search is linear.
import { refuseCostlyJson } from '#kit/nesting';
import { isObject } from '#kit/plain-object';

const MAX_CHARACTERS = 100;
/** The form of a release, a branch or a commit; it excludes sentences and most secrets. */
const VERSION = /^[A-Za-z0-9][\w.+~:-]*$/;
/** A word that begins with two numbers with a dot between them. */
const NUMBERED = /^v?\d+\.\d/;

/** The text if it can be a version, otherwise null. `hasPrefix` puts `v` before a number. */
export function versionIn(text: unknown, hasPrefix: boolean): string | null {
  if (typeof text !== 'string') return null;
  const word = text.trim();
  if (word.length > MAX_CHARACTERS || !VERSION.test(word)) return null;
  return hasPrefix && /^\d/.test(word) ? `v${word}` : word;
}

export function firstLine(text: string): string {
  return text.trimStart().split('\n', 1)[0] ?? '';
}

/** The first word with the form of a version. */
export function numberedWord(text: string): string | undefined {
  return text.split(/[\s,()]/).find(word => NUMBERED.test(word));
}

/** A member of an object in JSON; undefined when the text is something else. */
export function memberOf(text: string, name: string): unknown {
  try {
    refuseCostlyJson(text);
    const value: unknown = JSON.parse(text);
    return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  } catch {
    return undefined;
  }
}

/** The values of `NAME = value`, joined by dots; undefined when one is missing. Quotes around a value are left out. */
export function assigned(text: string, names: readonly string[]): string | undefined {
  const lines = text.split('\n');
  const values = names.map(name => {
    const line = lines.find(candidate => nameIn(candidate) === name);
    return line
      ?.slice(line.indexOf('=') + 1)
      .trim()
      .replaceAll(/["']/g, '');
  });
  return values.includes(undefined) ? undefined : values.join('.');
}

function nameIn(line: string): string | undefined {
  const at = line.indexOf('=');
  return at === -1 ? undefined : line.slice(0, at).trim();
}
