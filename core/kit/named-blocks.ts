// Named blocks: every object of the configuration, at any depth, that has a `process_name`.

import type { ConfigObject, NamedBlock } from '../contract/config.ts';
import { isObject } from './plain-object.ts';

/** Their `process_name` links to a process, it is none. */
const LINKS = new Set(['wait_for_url', 'wait_for_tcp']);

/** The entry of this host itself. */
const HOST_KEY = 'dumb_api_service';

/** In document order. */
export function findBlocks(root: Readonly<ConfigObject>): NamedBlock[] {
  const blocks: NamedBlock[] = [];
  const visit = (value: unknown, path: readonly string[]): void => {
    if (!isObject(value)) return;
    const name = value.process_name;
    if (path.length > 0 && typeof name === 'string' && name.trim() !== '') {
      const configKey = configKeyOf(path);
      const isHost = configKey === HOST_KEY;
      blocks.push({ processName: name, path, configKey, key: path.at(-1) ?? '', isHost, block: value });
    }
    // Lists such as `services` name processes without being one, and lists are not walked.
    for (const [key, member] of Object.entries(value)) if (!LINKS.has(key)) visit(member, [...path, key]);
  };
  visit(root, []);
  return blocks;
}

function configKeyOf(path: readonly string[]): string {
  const [rootKey = '', subKey = ''] = path;
  return rootKey === 'dumb' ? `dumb_${subKey}` : rootKey;
}

/** The exact name first, else a unique match that ignores case and folds white space. The first of equal names wins. */
export function matchBlock(blocks: readonly NamedBlock[], processName: string): NamedBlock | undefined {
  const exact = blocks.find(block => block.processName === processName);
  if (exact !== undefined) return exact;
  const folded = foldName(processName);
  const [first, ...others] = blocks.filter(block => foldName(block.processName) === folded);
  return others.length === 0 ? first : undefined;
}

/** Names that an earlier block has already. */
export function duplicateNames(blocks: readonly NamedBlock[]): string[] {
  const seen = new Set<string>();
  return blocks.flatMap(({ processName }) => {
    const folded = foldName(processName);
    if (seen.has(folded)) return [processName];
    seen.add(folded);
    return [];
  });
}

function foldName(name: string): string {
  return name.trim().replaceAll(/\s+/g, ' ').toLowerCase();
}
