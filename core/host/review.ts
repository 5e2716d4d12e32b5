// Checks the configuration for what would not work, and for what is probably a mistake, as far as the core knows.
import type { OpenConfig } from '../config/open.ts';
import type { ConfigReview } from '../contract/config.ts';
import type { PluginReport } from '../contract/host.ts';
import { unknownPlugins } from './plugin-names.ts';
import type { Settings } from './settings.ts';
import { strayEntries } from './stray-entries.ts';
import { type SeamsByKind, unknownSeams } from './unknown-seams.ts';
import { unusedWords } from './unused-words.ts';

export interface FoundPlugins {
  readonly reports: readonly PluginReport[];
  readonly choice: Settings['plugins'];
  readonly directories: readonly string[];
  readonly seams: SeamsByKind;
}

export async function reviewOfCore(
  config: OpenConfig,
  { reports, choice, directories, seams }: FoundPlugins,
): Promise<ConfigReview> {
  const unloaded = reports.filter(({ state }) => state !== 'ready');
  const review = await config.review(new Set(unloaded.map(({ name }) => name.replaceAll('-', '_'))));
  const unknown = unknownPlugins(
    choice,
    reports.map(({ name }) => name),
  );
  const misspelt = unknownSeams(seams, reports);
  const unused = await unusedWords(config.store);
  return {
    problems: [...review.problems, ...unknown.problems, ...misspelt.problems, ...unused],
    notes: [...review.notes, ...unknown.notes, ...misspelt.notes, ...(await strayEntries(directories))],
  };
}
