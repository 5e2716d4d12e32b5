// What threads can do, by name: each is made from its options, and answers requests.
import { applyShard } from './apply-shard.ts';
import { migrateShard } from './migrate-shard.ts';
import { rewriteShard } from './rewrite-shard.ts';

export const shards = { rewrite: rewriteShard, migrate: migrateShard, apply: applyShard };

export type ShardName = keyof typeof shards;
