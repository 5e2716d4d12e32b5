// Finds log levels of services that are no known level.
import { variableName } from '../config/environment.ts';
import type { NamedBlock } from '../contract/config.ts';
import { findLevel, LEVELS } from '../kit/log-level.ts';

/**
 * One sentence for each unknown level. A block that passes `{log_level}` to its program is left out, because the word
 * may be a level of that program. `variables` are the environment variables that override a member.
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
