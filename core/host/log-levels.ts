// The log levels of services: a word that stands for none is told.
import { variableName } from '../config/environment.ts';
import type { NamedBlock } from '../contract/config.ts';
import { findLevel, LEVELS } from '../kit/log-level.ts';

/**
 * One line for each. A word that goes into the command or the variables of a block may be one of the program's own.
 * `variables` are those of the environment that override a member.
 */
export function unknownLevels(blocks: readonly NamedBlock[], variables: readonly string[]): string[] {
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
