// Finds names of plugins that do not exist, in `dumb.plugins` and on the command line, and suggests what was meant.
import type { ConfigReview } from '../contract/config.ts';
import { nearestWord } from '../kit/nearest-word.ts';

/** How many plugins are suggested whose names contain the given word. */
const MAX_MEANT = 3;

/** The sentence that there is no plugin of this name, with the names that were probably meant. */
export function noSuchPlugin(name: string, known: readonly string[]): string {
  const fault = `there is no plugin '${name}'`;
  const nearest = nearestWord(name, known);
  if (nearest !== undefined) return `${fault}; '${nearest}' is probably meant`;
  const related = known.filter(other => other.split('-').includes(name)).slice(0, MAX_MEANT);
  return related.length === 0 ? fault : `${fault}; perhaps ${related.map(other => `'${other}'`).join(' or ')} is meant`;
}

/**
 * A name in `enabled`, and one that was probably mistyped, is a problem. Any other name in `disabled` is a note,
 * because it may be that of a plugin which this build does not have.
 */
export function unknownPlugins(
  { enabled, disabled }: { readonly enabled: readonly string[]; readonly disabled: readonly string[] },
  known: readonly string[],
): ConfigReview {
  const problems: string[] = [];
  const notes: string[] = [];
  for (const [key, names] of Object.entries({ enabled, disabled }))
    for (const name of names.filter(candidate => !known.includes(candidate))) {
      const meant = nearestWord(name, known);
      const fault = `dumb.plugins.${key}: there is no plugin '${name}'`;
      if (meant !== undefined) problems.push(`${fault}; '${meant}' is probably meant`);
      else if (key === 'enabled') problems.push(`${fault}; GET /host/plugins and \`stackwarden plugins\` list them`);
      else notes.push(fault);
    }
  return { problems, notes };
}
