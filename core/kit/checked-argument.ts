// Refuses arguments that could not be called, sorted or written later, when a plugin registers them.
import { nearestWord } from './nearest-word.ts';

/** Throws an Error that says `what` is no text. */
export function requireText(value: unknown, what: string): asserts value is string {
  if (typeof value !== 'string') throw new Error(`${what} is no text`);
}

export function requireFunction(value: unknown, what: string): void {
  if (typeof value !== 'function') throw new Error(`${what} is no function`);
}

/** Throws an Error unless the deadline is a number of at least 0, or undefined, which means the usual one. */
export function requireDeadline(ms: unknown, what: string): void {
  if (ms === undefined || (typeof ms === 'number' && ms >= 0)) return;
  throw new Error(`${what} has a deadline of ${String(ms)} ms; give a number`);
}

/**
 * Says that `what` lacks one of the known members and has another whose name is probably a misspelling of it, which
 * would have no effect and be noticed by nobody. undefined when there is none.
 */
export function misspellingIn(
  members: readonly string[],
  known: ReadonlySet<string>,
  what: () => string,
): string | undefined {
  for (const member of members) {
    if (known.has(member)) continue;
    const absent = [...known].filter(one => !members.includes(one));
    const meant = nearestWord(member, absent);
    if (meant !== undefined) return `${what()} has no '${meant}' but '${member}'; write '${meant}'`;
  }
  return undefined;
}

/** Throws an Error with what `misspellingIn` says. */
export function refuseMisspelt(members: readonly string[], known: ReadonlySet<string>, what: string): void {
  const misspelling = misspellingIn(members, known, () => what);
  if (misspelling !== undefined) throw new Error(misspelling);
}

/** The names of all members of a type, for `misspellingIn`; the compiler checks that none is missing. */
export function membersOf<Type>(members: Readonly<Record<keyof Type, true>>): ReadonlySet<string> {
  return new Set(Object.keys(members));
}
