// Makes what was parsed from foreign text plain data: no object has a prototype that a name could reach.
import { Problem } from '../contract/problem.ts';
import { MAX_VALUES, tooMany } from './nesting.ts';
import { MAX_NESTING } from './nesting-limit.ts';

export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** The limit for names and texts together. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/**
 * The same value, whose objects have no prototype any more. Throws a Problem 400 when it is nested deeper than
 * `maxNesting`, and 413 when it has more than 100,000 values or 16 Mi characters: aliases repeat what a text says only
 * once.
 */
export function plainData<Value>(value: Value, maxNesting = MAX_NESTING): Value {
  forEachContainer(value, { maxNesting, maxCharacters: MAX_CHARACTERS }, container => {
    if (!Array.isArray(container) && Object.getPrototypeOf(container) !== null) Object.setPrototypeOf(container, null);
  });
  return value;
}

/** Throws the Problems of `plainData`, for a value that stays as it is. */
export function refuseLargeData(value: unknown, maxCharacters: number): void {
  forEachContainer(value, { maxNesting: MAX_NESTING, maxCharacters }, () => undefined);
}

/** Throws a Problem 400 for a value that is nested deeper than `plainData` allows, however large it is. */
export function refuseDeepData(value: unknown): void {
  const maxCharacters = Number.POSITIVE_INFINITY;
  forEachContainer(value, { maxNesting: MAX_NESTING, maxCharacters, maxValues: maxCharacters }, () => undefined);
}

/**
 * Goes level by level, because a recursion into a hostile depth would overflow the stack before it could be refused.
 */
function forEachContainer(
  value: unknown,
  limits: { readonly maxNesting: number; readonly maxCharacters: number; readonly maxValues?: number },
  visit: (container: object) => void,
): void {
  const { maxNesting, maxCharacters, maxValues = MAX_VALUES } = limits;
  let values = 0;
  let characters = 0;
  let level: object[] = isPlain(value) ? [value] : [];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > maxNesting) throw new Problem(400, `The data is nested deeper than ${maxNesting} levels`);
    const next: object[] = [];
    for (const container of level) {
      visit(container);
      const members = membersOf(container);
      values += members.length;
      // Before the members are looked at, because nothing else limits how many they are.
      if (values > maxValues) throw tooMany();
      characters += nameCharacters(container) + takeMembers(members, next);
      if (characters > maxCharacters)
        throw new Problem(413, `The data has more than ${maxCharacters} characters; shorten it`);
    }
    level = next;
  }
}

function membersOf(container: object): readonly unknown[] {
  return Array.isArray(container) ? container : Object.values(container);
}

function nameCharacters(container: object): number {
  if (Array.isArray(container)) return 0;
  let characters = 0;
  for (const key of Object.keys(container)) characters += key.length;
  return characters;
}

/** Adds the members that are containers to `next`, and returns the characters of those that are texts. */
function takeMembers(members: readonly unknown[], next: object[]): number {
  let characters = 0;
  for (const member of members) {
    if (typeof member === 'string') characters += member.length;
    else if (isPlain(member)) next.push(member);
  }
  return characters;
}

/**
 * Throws a Problem 400 for a key that would reach a prototype in code that copies members by their name. The value is
 * not nested deeper than `plainData` allows.
 */
export function refuseForbiddenKeys(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) {
    const forbidden = Object.keys(value).find(key => FORBIDDEN_KEYS.has(key));
    if (forbidden !== undefined) throw new Problem(400, `The key '${forbidden}' is not allowed`);
  }
  for (const member of Object.values(value)) refuseForbiddenKeys(member);
}

/** Lists, and objects that are nothing but their members. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}
