// Warns of blocks whose `ui.port_key` names a key that is missing or holds no port, so that their interface is left
// out.
import type { Host, NamedBlock } from '#core';
import { ConfigWarnings } from '#kit/config-warnings';
import { findBlocks } from '#kit/named-blocks';
import { isObject } from '#kit/plain-object';
import type {} from '../services/contract.ts';

/** Reports them in a save, in a review, and once in the log. */
export function tellPortWords(host: Host): void {
  const isKnown = ({ configKey }: NamedBlock): boolean => host.find('service.templates')?.get(configKey) !== undefined;
  const warnings = new ConfigWarnings(host, root =>
    findBlocks(root).flatMap(named => (isKnown(named) ? [] : (strayPortKey(named) ?? []))),
  );
  host.tap('config.check', candidate => warnings.check(candidate));
  host.tap('config.review', review => warnings.review(review));
  host.tap('host.ready', () => warnings.tell());
  host.tap('config.changed', () => warnings.tell());
}

/** The warning, as one sentence; undefined when the block has a port. */
function strayPortKey({ path, block }: NamedBlock): string | undefined {
  if (block.enabled !== true || !isObject(block.ui) || typeof block.ui.port_key !== 'string') return undefined;
  const { port_key: key } = block.ui;
  const place = `${path.join('.')}.ui.port_key`;
  if (!Object.hasOwn(block, key))
    return `${place}: the block has no key '${key}', so its web interface is left out; name the key that holds its port`;
  const port = Number(block[key]);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return undefined;
  return `${place}: '${key}' holds no port, so the web interface is left out; give it one from 1 to 65535`;
}
