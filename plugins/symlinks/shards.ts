// What threads can do, by name: each is made from its options, and answers requests.
import { applyShard } from './apply-shard.ts';
import { backupShard } from './backup/backup-shard.ts';
import { migrateShard } from './migrate-shard.ts';
import { restoreShard } from './restore/restore-shard.ts';
import { rewriteShard } from './rewrite-shard.ts';
import type { ShardName } from './shard-pool.ts';

export const shards = {
  rewrite: rewriteShard,
  migrate: migrateShard,
  apply: applyShard,
  backup: backupShard,
  restore: restoreShard,
} satisfies Record<ShardName, unknown>;
