// Which names a pattern means, where `*` stands for any text. Case does not matter.
import { nearestWord } from './nearest-word.ts';

/**
 * The names that the patterns mean, each once and in the order of `names`. A pattern with an asterisk means only names
 * of `inUse`, a part of `names`; any other name has to be given whole. Throws an Error that names the first pattern
 * that fits none of them.
 */
export function namesThatFit(
  names: readonly string[],
  patterns: readonly string[],
  inUse: readonly string[] = names,
): string[] {
  const meant = new Set<string>();
  for (const pattern of patterns) {
    // A name may hold an asterisk of its own.
    const isName = names.includes(pattern);
    const fitting = isName ? [pattern] : names.filter(name => fitsPattern(name, pattern));
    const found = isName || !pattern.includes('*') ? fitting : fitting.filter(name => inUse.includes(name));
    if (found.length === 0) throw new Error(`no service fits '${pattern}'; ${hint(pattern, names, fitting)}`);
    for (const name of found) meant.add(name);
  }
  return names.filter(name => meant.has(name));
}

function hint(pattern: string, names: readonly string[], [unused]: readonly string[]): string {
  if (unused !== undefined) return `'${unused}' is not in use: give its whole name`;
  const nearest = nearestWord(pattern, names);
  return nearest === undefined ? 'stackwarden status --all lists them' : `did you mean '${nearest}'?`;
}

export function fitsPattern(name: string, pattern: string): boolean {
  return consistsOf(name.toLowerCase(), pattern.toLowerCase().split('*'));
}

/** Whether a text consists of the parts, one after the other, with any text between them. */
export function consistsOf(text: string, [first = '', ...others]: readonly string[]): boolean {
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let from = first.length;
  for (const part of others) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return text.length - last.length >= from && text.endsWith(last);
}
