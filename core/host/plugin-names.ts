// Finds names in `dumb.plugins` that no plugin has.
import type { ConfigReview } from '../contract/config.ts';
import { nearestWord } from '../kit/nearest-word.ts';

/**
 * A name that is to be loaded, or that was probably mistyped, is a problem; one that is left out may be that of a plugin
 * which this build does not have.
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
