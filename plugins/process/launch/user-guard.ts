// Refuses changes by which a caller without credentials would run programs as a user of his choice.
import { type ConfigStore, type NamedBlock, Problem } from '#core';
import { deepEqual } from '#kit/deep-equal';
import { findBlocks } from '#kit/named-blocks';
import { isObject } from '#kit/plain-object';
import { valueAt } from '#kit/value-at';
import type { RunUsers } from './run-user.ts';

type Members = Readonly<Record<string, unknown>>;
type Schemas = Pick<ConfigStore, 'file' | 'blockMarks' | 'blockSchema'>;

/** Throws a Problem 403 when a block with a user of its own is added, or what it runs is changed. */
export function guardUsers(before: Members, after: Members, users: RunUsers, store: Schemas): void {
  for (const named of findBlocks(after)) {
    const { path, configKey, processName, block } = named;
    const former = valueAt(before, path);
    // A save leaves most blocks the same objects.
    if (former === block) continue;
    const name = users.nameIn(configKey, block);
    if (name === undefined) continue;
    const old: Members = isObject(former) ? former : {};
    const isChanged = (key: string): boolean => !deepEqual(block[key], old[key]);
    // The key `user` comes first, because a message that names it says most.
    const changed =
      ['user', ...store.blockMarks(named).decidesProgram].find(isChanged) ??
      undescribed(named, old, store).find(isChanged);
    if (changed === undefined) continue;
    throw new Problem(
      403,
      `${changed} of ${processName}, which runs as user ${name}, cannot be changed while authentication is off; ` +
        `switch it on, or change it in ${store.file}`,
    );
  }
}

/**
 * Keys that no schema describes. The command may use one in braces, and a plugin that is loaded later may read one: it
 * could not refuse what was saved before.
 */
function undescribed(named: NamedBlock, former: Members, store: Schemas): string[] {
  const described = store.blockSchema(named)?.properties;
  return Object.keys({ ...former, ...named.block }).filter(
    key => !isObject(described) || !Object.hasOwn(described, key),
  );
}
