// Configuration of the web frontend: the block of its process, and the preferences that it stores for its users.
import { z } from 'zod';

export const frontendSection = z.looseObject({
  enabled: z.boolean().default(false).describe('started as a service'),
  process_name: z.string().min(1).default('DUMB Frontend').describe('its name among the processes'),
  host: z.string().min(1).default('0.0.0.0').describe('address to listen on'),
  port: z.number().int().min(1).max(65_535).default(3005).describe('port to listen on'),
  env: z.record(z.string(), z.unknown()).default({}).describe('its environment'),
});

/** Only the frontend reads and writes this section. */
export const preferencesSection = z
  .looseObject({
    log_timestamp: z.looseObject({}).default({}).describe('how it shows times of log lines'),
    sidebar: z.looseObject({}).default({}).describe('how it shows its sidebar'),
  })
  .describe('preferences of the web frontend; its members are its own');
