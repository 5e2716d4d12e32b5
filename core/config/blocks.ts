// The named blocks of a configuration tree. No tree is modified, so each member of a root is looked through once,
// however many trees share it.
import type { ConfigObject, NamedBlock } from '../contract/config.ts';
import { findBlocks } from '../kit/named-blocks.ts';
import { isObject } from '../kit/plain-object.ts';

/** The blocks of each member. The key is recorded too, because a YAML alias may put one object at several places. */
const known = new WeakMap<object, { readonly key: string; readonly blocks: readonly NamedBlock[] }>();

/** All named blocks in document order. A member that stays the same object gives the same NamedBlock objects. */
export function blocksOf(root: Readonly<ConfigObject>): NamedBlock[] {
  const blocks: NamedBlock[] = [];
  for (const [key, member] of Object.entries(root)) if (isObject(member)) blocks.push(...blocksIn(key, member));
  return blocks;
}

function blocksIn(key: string, member: ConfigObject): readonly NamedBlock[] {
  const last = known.get(member);
  if (last?.key === key) return last.blocks;
  const blocks = findBlocks({ [key]: member });
  known.set(member, { key, blocks });
  return blocks;
}
