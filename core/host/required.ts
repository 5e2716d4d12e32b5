// Required plugins: the host does not start without them, and no change of the configuration through the API can leave
// them out, so that it cannot switch off authentication or supervision.
import type { PluginReport } from '../contract/host.ts';
import { Problem } from '../contract/problem.ts';
import { isChosen, type PluginChoice } from './plugin-choice.ts';

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

/** Thrown when required plugins are missing or failed, so that the host does not start. */
class StartupError extends Error {
  override readonly name = 'StartupError';
}

/**
 * Throws a StartupError when a required plugin that exists is not ready. A missing one prevents the start only when the
 * configuration names it: the default list guards against broken plugins, not against trimmed builds.
 */
export function refuseUnready(
  reports: readonly PluginReport[],
  { required, requiredByUser }: { readonly required: readonly string[]; readonly requiredByUser: boolean },
): void {
  const problems = required.flatMap(name => {
    const report = reports.find(candidate => candidate.name === name);
    if (report === undefined) return requiredByUser ? [`${name}: its folder is missing`] : [];
    return report.state === 'ready' || report.state === 'disabled' ? [] : [`${name}: ${report.reason ?? report.state}`];
  });
  if (problems.length > 0) throw new StartupError(`required plugins are not ready: ${problems.join('; ')}`);
}
