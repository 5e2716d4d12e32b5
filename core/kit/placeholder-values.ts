// Values for `{name}` from other plugins. One that fails costs those services whose texts may need it, and no others.
import { type ContributionList, type NamedBlock, Problem } from '#core';
import { errorText } from '#kit/error-text';
import type { LaunchPlaceholders } from '../contract.ts';

export interface Placeholders {
  readonly values: Readonly<Record<string, unknown>>;
  /** Throws a Problem 503 for a name that nobody has given while a plugin fails that may know it. */
  refuse(name: string): void;
}

export function placeholdersOf(contributed: ContributionList<LaunchPlaceholders>, block: NamedBlock): Placeholders {
  const values: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const { owner, value } of contributed) {
    try {
      Object.assign(values, value.values(block));
    } catch (error) {
      faults.push(`the plugin ${owner}, which may know it, fails: ${errorText(error)}`);
    }
  }
  return {
    values,
    refuse(name) {
      const [fault] = faults;
      if (fault !== undefined)
        throw new Problem(503, `${block.processName} has no value for {${name}}, because ${fault}`);
    },
  };
}
