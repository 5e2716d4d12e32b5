// Settings for AltMount's own file that follow its block: the kind of mount, the log level, and its own database again
// after it has left the managed server.
import { z } from 'zod';
import type { NamedBlock } from '#core';
import { parseLevel } from '#kit/log-level';
import { isObject } from '#kit/plain-object';
import type { ServiceTemplate } from '../services/contract.ts';

const LEVELS = { DEBUG: 'debug', INFO: 'info', WARNING: 'warn', ERROR: 'error', CRITICAL: 'error' } as const;

const factsSchema = z.lazy(() =>
  z.object({
    mountTypes: z
      .record(z.string(), z.string())
      .default({})
      .describe("kinds of mounts, with the application's own words for them"),
    leaving: z
      .object({
        switch: z.string().describe('option with which its data are in the managed server'),
        type: z.string().describe('what its file calls that kind of database'),
        managed: z.string().describe('host and port of that server'),
        own: z.record(z.string(), z.unknown()).describe('what its file says of the database of its own'),
      })
      .optional(),
  }),
);

/** The log level and the kind of mount; a kind that the template does not map leaves the file as it is. */
export function settingsFor({ block }: NamedBlock, { facts }: ServiceTemplate): Readonly<Record<string, unknown>> {
  const { mountTypes } = factsSchema.parse(facts ?? {});
  const kind = String(block.mount_type);
  return {
    log: { level: LEVELS[parseLevel(String(block.log_level ?? ''))] },
    ...(Object.hasOwn(mountTypes, kind) ? { mount_type: mountTypes[kind] } : {}),
  };
}

/**
 * With the switch off, the file names AltMount's own database again, unless it names a server other than the managed.
 */
export function databaseAfter(
  { block }: NamedBlock,
  { facts }: ServiceTemplate,
  present: unknown,
  fill: (text: string) => string,
): Record<string, unknown> {
  const { leaving } = factsSchema.parse(facts ?? {});
  if (leaving === undefined || block[leaving.switch] === true) return {};
  if (!isObject(present) || present.type !== leaving.type) return {};
  const address = String(present.dsn);
  const isManaged = URL.canParse(address) && new URL(address).host === fill(leaving.managed);
  return isManaged ? { database: leaving.own } : {};
}
