// Finds named blocks: the objects of the configuration, at any depth, that have a `process_name`.

import type { ConfigObject, NamedBlock } from '../contract/config.ts';
import { isObject } from './plain-object.ts';

/** The `process_name` in these members refers to another process instead of naming one. */
const REFERENCE_KEYS = new Set(['wait_for_url', 'wait_for_tcp']);

/** Config key of the entry of this host itself. */
const HOST_KEY = 'dumb_api_service';

/**
 * The blocks of members that never change. The key is recorded too, because a YAML alias may put one object at several
 * places.
 */
const known = new WeakMap<object, { readonly key: string; readonly blocks: readonly NamedBlock[] }>();

/**
 * All named blocks in document order. Frozen members, which are frozen at every depth as in the configuration in force,
 * are looked through once.
 */
export function findBlocks(root: Readonly<ConfigObject>): NamedBlock[] {
  return blocksOfMembers(root, Object.isFrozen);
}

/**
 * The same for a tree that nobody changes, frozen or not: however many trees share a member, it is looked through once
 * and gives the same NamedBlock objects.
 */
export function findFinalBlocks(root: Readonly<ConfigObject>): NamedBlock[] {
  return blocksOfMembers(root, () => true);
}

function blocksOfMembers(root: Readonly<ConfigObject>, isFinal: (member: ConfigObject) => boolean): NamedBlock[] {
  const blocks: NamedBlock[] = [];
  for (const [key, member] of Object.entries(root)) {
    if (!isObject(member) || REFERENCE_KEYS.has(key)) continue;
    const last = known.get(member);
    const found = last?.key === key ? last.blocks : blocksIn(key, member);
    if (found !== last?.blocks && isFinal(member)) known.set(member, { key, blocks: found });
    for (const block of found) blocks.push(block);
  }
  return blocks;
}

function blocksIn(key: string, member: Readonly<ConfigObject>): readonly NamedBlock[] {
  const blocks: NamedBlock[] = [];
  const visit = (value: Readonly<ConfigObject>, path: readonly string[]): void => {
    const name = value.process_name;
    if (typeof name === 'string' && name.trim() !== '') {
      const configKey = configKeyOf(path);
      const isHost = configKey === HOST_KEY;
      blocks.push({ processName: name, path, configKey, key: path.at(-1) ?? '', isHost, block: value });
    }
    // Lists are not walked: the objects in them, as in `services`, refer to processes.
    for (const innerKey of Object.keys(value)) {
      const inner = value[innerKey];
      if (isObject(inner) && !REFERENCE_KEYS.has(innerKey)) visit(inner, [...path, innerKey]);
    }
  };
  visit(member, [key]);
  return blocks;
}

function configKeyOf(path: readonly string[]): string {
  const [rootKey = '', subKey = ''] = path;
  return rootKey === 'dumb' ? `dumb_${subKey}` : rootKey;
}

/**
 * The block with exactly this name, else the only one whose name differs in case or white space alone. The first of
 * several blocks with the same name wins.
 */
export function matchBlock(blocks: readonly NamedBlock[], processName: string): NamedBlock | undefined {
  const exact = blocks.find(block => block.processName === processName);
  if (exact !== undefined) return exact;
  const folded = foldName(processName);
  const [first, ...others] = blocks.filter(block => foldName(block.processName) === folded);
  return others.length === 0 ? first : undefined;
}

/** The blocks that share a name apart from case and white space, behind the name of the first. */
export function sameNames(blocks: readonly NamedBlock[]): [string, ...NamedBlock[]][] {
  const byName = new Map<string, NamedBlock[]>();
  for (const block of blocks) {
    const folded = foldName(block.processName);
    byName.set(folded, [...(byName.get(folded) ?? []), block]);
  }
  return [...byName.values()].flatMap(same => (same.length > 1 ? [[same[0]?.processName ?? '', ...same]] : []));
}

/** The names that an earlier block has taken already, apart from case and white space. */
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
