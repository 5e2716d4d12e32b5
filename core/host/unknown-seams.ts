// Finds hooks, events and points that plugins use and nobody has, and suggests what was meant.
import type { ConfigReview } from '../contract/config.ts';
import type { PluginReport } from '../contract/host.ts';
import { nearestWord } from '../kit/nearest-word.ts';
import { isOfProduct } from './discover.ts';

export interface UsedName {
  readonly plugin: string;
  readonly name: string;
}

interface Seams {
  names(): readonly string[];
  /** What plugins use and nobody has declared. */
  undeclared(): readonly UsedName[];
}

export type SeamsByKind = Readonly<Record<'hooks' | 'events' | 'contributions', Seams>>;

const USES = {
  hooks: 'taps the hook',
  events: 'listens to the event',
  contributions: 'contributes to the point',
};

/**
 * A name that was probably mistyped is a problem. Any other is a note, because its plugin may not be in this build. No
 * two names of the product are so near each other, and its own plugins have theirs checked by the compiler.
 */
export function unknownSeams(
  seams: SeamsByKind,
  reports: readonly Pick<PluginReport, 'name' | 'folder'>[],
): ConfigReview {
  const own = new Set(reports.filter(({ folder }) => isOfProduct(folder)).map(({ name }) => name));
  const problems = new Set<string>();
  const notes = new Set<string>();
  for (const [kind, use] of Object.entries(USES) as [keyof SeamsByKind, string][])
    for (const { plugin, name } of seams[kind].undeclared()) {
      if (own.has(plugin)) continue;
      const meant = nearestWord(name, seams[kind].names());
      const fault = `the plugin ${plugin} ${use} '${name}', which no loaded plugin has`;
      if (meant === undefined) notes.add(fault);
      else problems.add(`${fault}; '${meant}' is probably meant`);
    }
  return { problems: [...problems], notes: [...notes] };
}
