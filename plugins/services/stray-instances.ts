// Warns of `instances` at the key of a service of which the catalogue has only one: its block there runs beside the
// service, without the defaults of the catalogue.
import type { ConfigObject, Host, NamedBlock } from '#core';
import { findBlocks } from '#kit/named-blocks';
import type { ServiceTemplates } from './contract.ts';

/** Reports them in a save, in a review, and once in the log. */
export function tellStrayInstances(host: Host, templates: ServiceTemplates): void {
  const store = host.use('config.store');
  const found = (blocks: readonly NamedBlock[]): string[] =>
    blocks.flatMap(named => strayInstance(named, templates) ?? []);
  const foundIn = (root: Readonly<ConfigObject>) => found(findBlocks(root));
  const told = new Set<string>();
  const tell = (): void => {
    for (const line of found(store.blocks())) {
      if (!told.has(line)) host.log.warn(line);
      told.add(line);
    }
  };
  host.tap('config.check', ({ before, after, warnings }) => {
    const known = new Set(foundIn(before));
    warnings.push(...foundIn(after).filter(line => !known.has(line)));
  });
  host.tap('config.review', ({ problems }) => void problems.push(...found(store.blocks())));
  host.tap('host.ready', tell);
  host.tap('config.changed', tell);
}

/** The warning, as one sentence; undefined when the block is no such instance, or does not run. */
function strayInstance({ path, configKey, block }: NamedBlock, templates: ServiceTemplates): string | undefined {
  const template = templates.get(configKey);
  if (template === undefined || template.instance !== undefined || block.enabled !== true) return undefined;
  if (path.at(-2) !== 'instances') return undefined;
  const { displayName } = template;
  return (
    `${path.join('.')}: ${displayName} has no instances, so this runs beside ${displayName} and without its defaults; ` +
    `move its keys to ${path.slice(0, -2).join('.')}, or the block to a key of its own`
  );
}
