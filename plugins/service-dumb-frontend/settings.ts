// Configuration of the web frontend: the block of its process, and the preferences that it stores for its users.
import { z } from 'zod';

export const frontendSection = z.looseObject({
  enabled: z.boolean().default(false),
  process_name: z.string().min(1).default('DUMB Frontend'),
  host: z.string().min(1).default('0.0.0.0'),
  port: z.number().int().min(1).max(65_535).default(3005),
  env: z.record(z.string(), z.unknown()).default({}),
});

/** Only the frontend reads and writes this section. */
export const preferencesSection = z
  .looseObject({ log_timestamp: z.looseObject({}).default({}), sidebar: z.looseObject({}).default({}) })
  .describe('preferences of the web frontend; its members are its own');
