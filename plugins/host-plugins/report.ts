// The schema of the plugin list, and the conversion of a report to it.
import { z } from 'zod';
import type { PluginReport } from '#core';

export const answerSchema = z.lazy(() =>
  z.object({
    plugins: z.array(
      z.object({
        name: z.string(),
        state: z.enum(['ready', 'failed', 'skipped', 'disabled']),
        reason: z.string().nullable(),
        version: z.string().nullable(),
        loadMs: z.number().nullable().describe('milliseconds for import and set-up'),
        routes: z.array(z.string()),
        streams: z.array(z.string()),
        capabilities: z.array(z.string()),
        contributions: z.array(z.string()),
        services: z.array(z.string()),
        required: z.boolean().describe('the host ends when it cannot be brought back'),
        errors: z.record(z.string(), z.number()).describe('faults since the start, by place'),
      }),
    ),
    facts: z
      .record(z.string(), z.array(z.string()))
      .describe('lists that say more than a capability flag, for example the keys of services that a tool is for'),
  }),
);

/** Leaves out the folder's path, which reveals the layout of the machine and is of no use to a caller. */
export function toWire({ folder: _folder, ...report }: PluginReport): Omit<PluginReport, 'folder'> {
  return report;
}
