// The part of a block that the record of a run keeps, because supervision needs it while the process runs, and the
// block may be gone when the next host finds the process. It has no member that may hold a secret.
import { z } from 'zod';
import type { ConfigStore, NamedBlock } from '#core';
import { blockSchema } from '../settings.ts';
import type { KnownStopPolicy } from './stop-policy.ts';

const membersSchema = blockSchema
  .pick({
    enabled: true,
    log_file: true,
    access_log_file: true,
    log_level: true,
    suppress_logging: true,
    oneshot: true,
    stop_signal: true,
    stop_grace_seconds: true,
  })
  .extend({
    mount_path: z.string().optional(),
    mount_dir: z.string().optional(),
    mount_name: z.string().optional(),
  })
  .strip();

/** Members of a record; records of earlier versions have none of them. */
export const keptBlockShape = {
  config_key: z.string().default('').describe('of the entry, which may be gone when it is read'),
  path: z.array(z.string()).default([]).describe('of the entry'),
  block: membersSchema.default({}).describe('what is read from the entry while the process runs'),
  stop_policy: z
    .object({
      signal: membersSchema.shape.stop_signal,
      grace_ms: z.number().optional(),
      tier: z.number().optional(),
    })
    .optional()
    .describe('of its kind of service, whose plugin may be gone when it is read'),
  given: z
    .object({
      plugin: z.string(),
      in_file: z.boolean().describe('whether the file has a part of the entry'),
    })
    .optional()
    .describe('by whom the entry is one, where the file alone makes it none'),
};

export type KeptBlock = z.output<z.ZodObject<typeof keptBlockShape>>;

/** Kept parts by block, because a change of the configuration leaves most blocks the same objects. */
const known = new WeakMap<object, KeptBlock['block']>();

export function keptBlockOf(
  { processName, configKey, path, block }: NamedBlock,
  policy: KnownStopPolicy | undefined,
  store: ConfigStore,
): KeptBlock {
  const given = store.givenBlock(processName);
  return {
    config_key: configKey,
    path: [...path],
    block: membersOf(block),
    stop_policy: policy && { signal: policy.signal, grace_ms: policy.graceMs, tier: policy.tier },
    given: given && { plugin: given.plugin, in_file: given.isInFile },
  };
}

/** The kept part as a named block, for an entry that is not in the configuration. */
export function namedAfter(processName: string, { config_key: configKey, path, block }: KeptBlock): NamedBlock {
  return { processName, configKey, key: path.at(-1) ?? processName, path, isHost: false, block };
}

/**
 * Brings back the entry of a service that came from a plugin which is gone. Returns whether the entry is in the
 * configuration again.
 */
export function regain(processName: string, { given, path, block }: KeptBlock, store: ConfigStore): boolean {
  if (given === undefined) return false;
  return store.regainBlock(processName, { plugin: given.plugin, path, isInFile: given.in_file }, block);
}

/** Leaves out members that do not fit their schema, because a record with one of them could not be read. */
function membersOf(block: NamedBlock['block']): KeptBlock['block'] {
  const made = known.get(block);
  if (made !== undefined) return made;
  const members = Object.entries(membersSchema.shape).flatMap(([key, schema]) => {
    const { data } = schema.safeParse(block[key]);
    return data === undefined ? [] : [[key, data] as const];
  });
  const kept: KeptBlock['block'] = Object.fromEntries(members);
  known.set(block, kept);
  return kept;
}
