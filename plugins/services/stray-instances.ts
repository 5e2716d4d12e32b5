// Warns of `instances` at the key of a service of which the catalogue has only one: its block there runs beside the
// service, without the defaults of the catalogue.
import type { Host, NamedBlock } from '#core';
import { ConfigWarnings } from '#kit/config-warnings';
import { findBlocks } from '#kit/named-blocks';
import type { ServiceTemplates } from './contract.ts';

/** Reports them in a save, in a review, and once in the log. */
export function tellStrayInstances(host: Host, templates: ServiceTemplates): void {
  const warnings = new ConfigWarnings(host, root =>
    findBlocks(root).flatMap(named => strayInstance(named, templates) ?? []),
  );
  host.tap('config.check', candidate => warnings.check(candidate));
  host.tap('config.review', review => warnings.review(review));
  host.tap('host.ready', () => warnings.tell());
  host.tap('config.changed', () => warnings.tell());
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
