// Finds a version in what files and programs say. All of it is foreign text: each look takes linear time.
import { refuseCostlyJson } from '#kit/nesting';
import { isObject } from '#kit/plain-object';

const MAX_CHARACTERS = 100;
/** A release, a branch or a commit; nothing that could be a sentence or a secret of many kinds of characters. */
const VERSION = /^[A-Za-z0-9][\w.+~:-]*$/;
/** The first word that begins with two numbers. */
const NUMBERED = /^v?\d+\.\d/;

/** The text if it can be a version, with `v` before a number where the service is spoken of in that way. */
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
