// The settings of replication in `seerr_sync`: the interval, the request managers, and the options.
import { z } from 'zod';
import type { ConfigStore } from '#core';

export const SECTION_PATH = ['seerr_sync'] as const;
export const STATE_FILE = 'seerr_sync_state.json';
export const ALIAS_PREFIX = '/seerr-sync';
export const ALIAS_FLAG = 'seerr_sync';

const MIN_INTERVAL_S = 10;

/** Clients may send numbers from input fields as texts. */
const seconds = z
  .union(
    [
      z.int(),
      z
        .string()
        .regex(/^\d{1,9}$/)
        .transform(Number),
    ],
    'a whole number was expected',
  )
  .refine(value => value >= MIN_INTERVAL_S, `it must be at least ${MIN_INTERVAL_S}`);

const apiKey = z.string().max(4_096).default('').meta({ secret: true, description: 'its API key' });
const url = z.string().max(4_096).default('').describe('its address, with the path under which it is served');

const externalSubordinate = z.object({
  url: url.meta({ identity: true }),
  api_key: apiKey,
  label: z
    .string()
    .max(200)
    .optional()
    .meta({ kept: true, description: 'how it is called; without it by its address' }),
});

const options = z.object({
  sync_pending: z.boolean().default(true).describe('whether pending requests are replicated'),
  sync_approved: z.boolean().default(true).describe('whether approved requests are replicated'),
  sync_declined: z.boolean().default(false).describe('whether a request that is declined is declined everywhere'),
  sync_deletes: z.boolean().default(true).describe('whether a request that is deleted is deleted everywhere'),
  sync_4k_separately: z.boolean().default(true).describe('whether 4K requests are requests of their own'),
  user_mapping: z
    .enum(['admin', 'email_match'])
    .default('admin')
    .describe('who owns what is created: the administrator, or the user with the same e-mail address'),
  retry_failed_after_hours: z.int().min(0).max(8_760).default(24).describe('0: what failed is tried again each time'),
  pending_without_approval: z
    .enum(['create', 'hold'])
    .default('create')
    .describe('create: a pending request is created even where it is approved at once; hold: not before its approval'),
});

export const syncSection = z.object({
  enabled: z.boolean().default(false).describe('whether requests are replicated'),
  poll_interval_seconds: seconds.default(60).describe('seconds between the end of a cycle and the next'),
  external_primary: z
    .object({
      enabled: z
        .boolean()
        .default(false)
        .describe('whether requests are made on a request manager that runs elsewhere'),
      url,
      api_key: apiKey,
    })
    .prefault({}),
  external_subordinates: z
    .array(externalSubordinate)
    .max(100)
    .default([])
    .describe('request managers elsewhere that follow'),
  options: options.prefault({}),
});

export type SyncSettings = z.output<typeof syncSection>;

/** The settings in force. An interval in the file that is too short is replaced by the shortest one. */
export function readSettings(store: Pick<ConfigStore, 'get' | 'stored'>): SyncSettings {
  const parsed = syncSection.safeParse(store.get(SECTION_PATH) ?? {});
  const settings = parsed.success ? parsed.data : syncSection.parse({});
  const stored = Number(store.stored([...SECTION_PATH, 'poll_interval_seconds']) ?? MIN_INTERVAL_S);
  return stored < MIN_INTERVAL_S ? { ...settings, poll_interval_seconds: MIN_INTERVAL_S } : settings;
}
