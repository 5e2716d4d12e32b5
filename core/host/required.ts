// Required plugins stay: who may change the configuration over the API must not switch authentication or supervision off
// with it.
import { Problem } from '../contract/problem.ts';
import { isChosen, type PluginChoice } from './plugin-set.ts';

type Choice = Pick<PluginChoice, 'enabled' | 'disabled'> & { readonly required: readonly string[] };

/** Throws a Problem 409 when an update leaves out a required plugin, or no longer requires it. */
export function refuseWithoutRequired(before: Choice, after: Choice): void {
  for (const name of before.required) {
    const isLost = !after.required.includes(name) || (isChosen(name, before) && !isChosen(name, after));
    if (!isLost) continue;
    throw new Problem(
      409,
      `the plugin ${name} is required and cannot be left out here; change dumb.plugins in the configuration file, and start Stackwarden again`,
    );
  }
}
