// Finds variables of a block that are numbers too large to be kept with all their digits, such as ids.
import { isObject } from '#kit/plain-object';
import type { LaunchPlan } from '../contract.ts';

/** One sentence for each variable, without its value, which may be secret. */
export function roundedVariables({ processName, block: { env } }: LaunchPlan): string[] {
  const rounded = Object.entries(isObject(env) ? env : {}).filter(
    ([, value]) => Number.isInteger(value) && !Number.isSafeInteger(value),
  );
  return rounded.map(
    ([name]) => `${name} in the env of ${processName} is a number that has lost digits; write it in quotation marks`,
  );
}
