// What AltMount's own file says of its block: how it mounts, and how much it logs.
import { z } from 'zod';
import type { NamedBlock } from '#core';
import { parseLevel } from '#kit/log-level';
import type { ServiceTemplate } from '../services/contract.ts';

const LEVELS = { DEBUG: 'debug', INFO: 'info', WARNING: 'warn', ERROR: 'error', CRITICAL: 'error' } as const;

const factsSchema = z.object({
  mountTypes: z
    .record(z.string(), z.string())
    .default({})
    .describe("kinds of mounts, with the application's own words for them"),
});

/** A kind of mount that it does not know leaves that in the file. */
export function settingsFor({ block }: NamedBlock, { facts }: ServiceTemplate): Readonly<Record<string, unknown>> {
  const { mountTypes } = factsSchema.parse(facts ?? {});
  const kind = String(block.mount_type);
  return {
    log: { level: LEVELS[parseLevel(String(block.log_level ?? ''))] },
    ...(Object.hasOwn(mountTypes, kind) ? { mount_type: mountTypes[kind] } : {}),
  };
}
