// The shards, by name: each is a function that makes, from options, the function by which a thread answers requests.

import { backupShard } from './backup/backup-shard.ts';
import { applyShard } from './repair/apply-shard.ts';
import { migrateShard } from './repair/migrate-shard.ts';
import { rewriteShard } from './repair/rewrite-shard.ts';
import { restoreShard } from './restore/restore-shard.ts';
import type { ShardName } from './tasks/shard-thread.ts';

export const shards = {
  rewrite: rewriteShard,
  migrate: migrateShard,
  apply: applyShard,
  backup: backupShard,
  restore: restoreShard,
} satisfies Record<ShardName, unknown>;
