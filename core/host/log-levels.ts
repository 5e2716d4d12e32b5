// The log levels of the configuration: a word that stands for none is told, and refused on save where it is for the host.
import { variableName } from '../config/environment.ts';
import type { ConfigObject, NamedBlock } from '../contract/config.ts';
import { Problem } from '../contract/problem.ts';
import { findLevel, LEVELS } from '../kit/log-level.ts';
import { isObject } from '../kit/plain-object.ts';

const PLACES = [
  ['dumb', 'log_level'],
  ['dumb', 'api_service', 'log_level'],
];

/** Those of the host itself, one line for each. `variables` are those of the environment that override a member. */
export function unknownLevels(root: Readonly<ConfigObject>, variables: readonly string[] = []): string[] {
  return PLACES.flatMap(path => {
    const word = path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), root);
    return fault(path, word, variables);
  });
}

/** Those of services: a word that goes into the command or the variables of a block may be one of the program's own. */
export function unknownLevelsOf(blocks: readonly NamedBlock[], variables: readonly string[]): string[] {
  return blocks.flatMap(({ isHost, path, block }) => {
    const found = isHost ? [] : fault([...path, 'log_level'], block.log_level, variables);
    const isGiven = found.length > 0 && JSON.stringify([block.command, block.env]).includes('{log_level}');
    return isGiven ? [] : found;
  });
}

function fault(path: readonly string[], word: unknown, variables: readonly string[]): string[] {
  if (typeof word !== 'string' || findLevel(word) !== undefined) return [];
  const variable = variableName(path);
  const place = variables.includes(variable) ? `the variable ${variable}` : path.join('.');
  return [`${place}: '${word}' is no log level, so INFO is used; it is one of ${LEVELS.join(', ')}`];
}

/** Throws a Problem 400 when an update sets one. */
export function refuseUnknownLevel(before: Readonly<ConfigObject>, after: Readonly<ConfigObject>): void {
  const known = unknownLevels(before);
  const added = unknownLevels(after).find(fault => !known.includes(fault));
  if (added !== undefined) throw new Problem(400, added);
}
