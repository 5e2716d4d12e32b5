// The log levels of the configuration: a word that stands for none is told, and refused on save.
import type { ConfigObject } from '../contract/config.ts';
import { Problem } from '../contract/problem.ts';
import { findLevel, LEVELS } from '../kit/log-level.ts';
import { isObject } from '../kit/plain-object.ts';

const PLACES = [
  ['dumb', 'log_level'],
  ['dumb', 'api_service', 'log_level'],
];

/** One line for each. */
export function unknownLevels(root: Readonly<ConfigObject>): string[] {
  return PLACES.flatMap(path => {
    const word = path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), root);
    if (typeof word !== 'string' || findLevel(word) !== undefined) return [];
    return [`${path.join('.')}: '${word}' is no log level, so INFO is used; it is one of ${LEVELS.join(', ')}`];
  });
}

/** Throws a Problem 400 when an update sets one. */
export function refuseUnknownLevel(before: Readonly<ConfigObject>, after: Readonly<ConfigObject>): void {
  const known = unknownLevels(before);
  const added = unknownLevels(after).find(fault => !known.includes(fault));
  if (added !== undefined) throw new Problem(400, added);
}
