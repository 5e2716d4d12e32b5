// Warns of blocks whose `ui.port_key` names a key that is missing or holds no port, so that their interface is left
// out.
import type { ConfigObject, ConfigStore, Host, NamedBlock } from '#core';
import { findBlocks } from '#kit/named-blocks';
import { isObject } from '#kit/plain-object';
import type {} from '../services/contract.ts';

/** Reports them in a save, in a review, and once in the log. */
export function tellPortWords(host: Host, store: ConfigStore): void {
  const found = (blocks: readonly NamedBlock[]): string[] =>
    blocks
      .filter(({ configKey }) => host.find('service.templates')?.get(configKey) === undefined)
      .flatMap(named => strayPortKey(named) ?? []);
  const foundIn = (root: Readonly<ConfigObject>) => found(findBlocks(root));
  const told = new Set<string>();
  const tell = (): void => {
    for (const line of found(store.blocks())) {
      if (told.has(line)) continue;
      told.add(line);
      host.log.warn(line);
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
