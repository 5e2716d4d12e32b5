// Values for `{name}` from other plugins. A plugin that fails affects only the services whose texts may need its
// values.
import type { NamedBlock } from '../contract/config.ts';
import type { ContributionList } from '../contract/host.ts';
import { Problem } from '../contract/problem.ts';
import { errorText } from './error-text.ts';

export interface PlaceholderValues {
  readonly values: Readonly<Record<string, unknown>>;
  /** For a name that has no value: throws a Problem 503 when a plugin that may know the name has failed. */
  refuse(name: string): void;
}

/** The values of the contributions to `process.placeholders`; later ones win. */
export function placeholderValues(
  contributions: ContributionList<{ values(block: NamedBlock): Readonly<Record<string, unknown>> }>,
  block: NamedBlock,
): PlaceholderValues {
  const values: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const { owner, value } of contributions) {
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
