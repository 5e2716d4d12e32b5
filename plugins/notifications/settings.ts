// The settings in `dumb.notifications`. The secrets of a destination are sent only to that destination.
import { z } from 'zod';
import type { ConfigStore } from '#core';
import { PRINTABLE, PRINTABLE_WORDS } from '#kit/printable';
import { SEVERITIES } from './severity.ts';

export const SECTION_PATH = ['dumb', 'notifications'] as const;
/** The two ways to configure a destination, by their names on the wire: a URL of a known service, or a webhook. */
export const PROVIDERS = ['apprise', 'webhook'] as const;

export type Provider = (typeof PROVIDERS)[number];

export const MAX_DESTINATIONS = 50;
const MAX_NAMES = 500;
const MAX_COOLDOWN_S = 604_800;

const percent = (value: number, what: string) =>
  z.number().min(1).max(100).default(value).describe(`percent of ${what} from which people are told`);

const destinationSection = z.object({
  id: z
    .string()
    .trim()
    .min(1)
    .max(128)
    .regex(/^\P{C}*$/u, 'it must be printable')
    .meta({ identity: true, description: 'tells the destination from others, and its secrets with it' }),
  name: z
    .string()
    .trim()
    .min(1)
    .max(120)
    .regex(PRINTABLE, PRINTABLE_WORDS)
    .default('Notification destination')
    .describe('how it is shown'),
  enabled: z.boolean().default(true).describe('whether anything but a test is sent to it'),
  provider: z.enum(PROVIDERS).default('apprise').describe('apprise: a URL of a service; webhook: a web address'),
  url: z.string().max(4_096).default('').meta({ writeOnly: true, description: 'its URL' }),
  verify_tls: z.boolean().default(true).describe('whether its certificate must be trusted'),
  headers: z
    .record(z.string().max(256), z.string().max(8_192))
    .default({})
    .meta({ writeOnly: true, description: 'headers of a webhook' }),
  minimum_severity: z.enum(SEVERITIES).default('warning').describe('what is less severe is not sent'),
  event_types: z.array(z.string().max(200)).max(MAX_NAMES).default([]).describe('types of events; none: all'),
  service_names: z.array(z.string().max(200)).max(MAX_NAMES).default([]).describe('names of processes; none: all'),
  cooldown_sec: z.int().min(0).max(MAX_COOLDOWN_S).default(300).describe('pause between two of the same; 0: none'),
  send_recovery: z.boolean().default(true).describe('whether the end of a condition is told'),
});

const thresholdsSection = z.object({
  cpu_percent: percent(85, 'all cores'),
  memory_percent: percent(85, 'the memory'),
  disk_percent: percent(90, 'the space of a monitored path'),
  inode_percent: percent(90, 'the inodes of a monitored path'),
  database_pressure: z.enum(['moderate', 'high', 'critical']).default('high').describe('pressure on a database'),
  duration_sec: z.number().min(0).max(86_400).default(60).describe('seconds for which it must last; 0: at once'),
});

export const notificationsSection = z.object({
  enabled: z.boolean().default(false).describe('whether events are told'),
  monitor_interval_sec: z.int().min(15).max(3_600).default(30).describe('seconds between two looks at thresholds'),
  history_retention_days: z.int().min(1).max(3_650).default(30).describe('age in days after which records go'),
  max_attempts: z.int().min(1).max(10).default(3).describe('how often a delivery is tried'),
  retry_base_sec: z.int().min(1).max(3_600).default(30).describe('pause before the second attempt; it doubles'),
  // The limit counts for changes alone: a list in the file that exceeds it is used, not replaced by none.
  destinations: z
    .array(destinationSection)
    .default([])
    .meta({ maxItems: MAX_DESTINATIONS, description: 'who is told' }),
  thresholds: thresholdsSection.prefault({}),
});

export type NotificationSettings = z.output<typeof notificationsSection>;
export type DestinationSettings = z.output<typeof destinationSection>;

const NO_SECTION = {};
let last: { readonly section: unknown; readonly settings: NotificationSettings } | undefined;

/** The settings in force, without invalid destinations. If any other setting is invalid, the defaults apply. */
export function readSettings(store: Pick<ConfigStore, 'get'>): NotificationSettings {
  const section = store.get(SECTION_PATH) ?? NO_SECTION;
  // Each change replaces the configuration as a whole, so the result for one object can be kept.
  if (section !== last?.section) last = { section, settings: settingsOf(section) };
  return last.settings;
}

/** Whether the settings have every destination of the file: none is left out because something does not fit. */
export function hasAllDestinations({ state, problems }: Pick<ConfigStore, 'state' | 'problems'>): boolean {
  const place = `${SECTION_PATH.join('.')}.destinations.`;
  const isInTheWay = (at: string) => `${at}.`.startsWith(place) || place.startsWith(`${at}.`);
  return state === 'valid' && !problems.some(({ path }) => isInTheWay(path));
}

function settingsOf(section: unknown): NotificationSettings {
  const parsed = notificationsSection.safeParse(section);
  if (parsed.success) return parsed.data;
  const { destinations, ...others } = section as Record<string, unknown>;
  const rest = notificationsSection.safeParse(others);
  const fitting = (Array.isArray(destinations) ? destinations : []).flatMap(entry => {
    const destination = destinationSection.safeParse(entry);
    return destination.success ? [destination.data] : [];
  });
  return { ...(rest.success ? rest.data : notificationsSection.parse({})), destinations: fitting };
}
