// Refuses changes by which a caller who has shown no credentials would run programs as a user of his choice.
import { Problem } from '#core';
import { deepEqual } from '#kit/deep-equal';
import { findBlocks } from '#kit/named-blocks';
import { isObject } from '#kit/plain-object';
import type { RunUsers } from './run-user.ts';

type Members = Readonly<Record<string, unknown>>;

/** What decides which program runs, and as whom. */
const KEYS = [
  'user',
  'command',
  'config_dir',
  'config_file',
  'env',
  'env_copy',
  'env_file',
  'env_passthrough',
  'stdin',
  'readiness',
  'liveness',
  // Where its program comes from.
  'repo_owner',
  'repo_name',
  'branch',
  'branch_enabled',
  'commit_sha',
  'release_version',
  'release_version_enabled',
  'pinned_version',
];

/** Throws a Problem 403 when a block with a user of its own is added, or what it runs is changed. */
export function guardUsers(before: Members, after: Members, users: RunUsers, file: string): void {
  for (const { path, configKey, processName, block } of findBlocks(after)) {
    const former = path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), before);
    // A save leaves most blocks the same objects.
    if (former === block) continue;
    const name = users.nameIn(configKey, block);
    if (name === undefined) continue;
    const changed = KEYS.find(key => !deepEqual(block[key], isObject(former) ? former[key] : undefined));
    if (changed === undefined) continue;
    throw new Problem(
      403,
      `${changed} of ${processName}, which runs as user ${name}, cannot be changed while authentication is off; ` +
        `switch it on, or change it in ${file}`,
    );
  }
}
