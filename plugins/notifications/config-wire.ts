// The configuration of notifications as clients see and save it: secrets are not shown, and blank ones are not changed.
import { z } from 'zod';
import { type Host, Problem } from '#core';
import { newId } from '#kit/new-id';
import { isObject } from '#kit/plain-object';
import type {} from '../process/contract.ts';
import {
  type DestinationSettings,
  type NotificationSettings,
  notificationsSection,
  PROVIDERS,
  readSettings,
} from './settings.ts';
import { SEVERITIES } from './severity.ts';

type Members = Readonly<Record<string, unknown>>;

export const configBody = z.object({ config: z.unknown().optional() });

export const configAnswer = z.lazy(() =>
  z.object({
    enabled: z.boolean(),
    monitor_interval_sec: z.int(),
    history_retention_days: z.int(),
    max_attempts: z.int(),
    retry_base_sec: z.int(),
    destinations: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        enabled: z.boolean(),
        provider: z.enum(PROVIDERS),
        url_configured: z.boolean(),
        verify_tls: z.boolean(),
        headers_configured: z.boolean(),
        minimum_severity: z.enum(SEVERITIES),
        event_types: z.array(z.string()),
        service_names: z.array(z.string()),
        cooldown_sec: z.number(),
        send_recovery: z.boolean(),
      }),
    ),
    thresholds: notificationsSection.shape.thresholds,
  }),
);

/** The configuration that is in force after the save, which may differ from what was saved. */
export const saveAnswer = z.lazy(() =>
  configAnswer.unwrap().extend({
    overridden: z.array(z.string()).describe('paths that were saved, and that the environment overrides'),
    warnings: z.array(z.string()),
  }),
);

/** Names of processes that are enabled or were started by hand, in the order of the configuration. */
export function enabledNames(host: Host): string[] {
  const blocks = host.find('process.supervisor')?.blocks() ?? host.use('config.store').blocks();
  return blocks.flatMap(({ processName, block }) => (block.enabled === true ? [processName] : []));
}

/** The configuration without secrets and without names of processes that are not enabled. */
export function configToWire(
  settings: NotificationSettings,
  enabled: ReadonlySet<string>,
): z.input<typeof configAnswer> {
  return {
    ...settings,
    destinations: settings.destinations.map(({ url, headers, ...destination }) => ({
      ...destination,
      url_configured: url !== '',
      headers_configured: Object.keys(headers).length > 0,
      service_names: shownNames(destination, enabled),
    })),
  };
}

function shownNames(
  { service_names: names }: Pick<DestinationSettings, 'service_names'>,
  enabled: ReadonlySet<string>,
) {
  return names.filter(name => enabled.has(name)).sort();
}

/**
 * The section to be saved, with known members only. Members that are not sent keep their values. Throws a Problem 400
 * that names the place and never a secret.
 */
export function configFromWire(sent: unknown, host: Host): Members {
  if (!isObject(sent)) {
    const fault = sent === undefined ? 'it is missing' : 'it must be an object';
    throw new Problem(400, `Invalid notification configuration at config: ${fault}`);
  }
  const { destinations, thresholds, ...others } = sent;
  const stored = readSettings(host.use('config.store'));
  const known = knownMembers(others, notificationsSection.shape);
  const section: Record<string, unknown> = { ...known };
  if (thresholds !== undefined)
    section.thresholds = isObject(thresholds)
      ? { ...stored.thresholds, ...knownMembers(thresholds, notificationsSection.shape.thresholds.unwrap().shape) }
      : thresholds;
  if (destinations !== undefined)
    section.destinations = Array.isArray(destinations)
      ? destinations.map(entry => (isObject(entry) ? destinationFromWire(entry) : entry))
      : destinations;
  const parsed = notificationsSection.partial().safeParse(section);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const place = issue?.path.join('.') || 'config';
    throw new Problem(400, `Invalid notification configuration at ${place}: ${issue?.message}`);
  }
  const sentKeys = Object.keys(section);
  const saved = Object.fromEntries(Object.entries(parsed.data).filter(([key]) => sentKeys.includes(key)));
  if (parsed.data.destinations === undefined || destinations === undefined) return saved;
  const enabled = new Set(enabledNames(host));
  return { ...saved, destinations: parsed.data.destinations.map(entry => withNames(entry, stored, enabled)) };
}

/** A blank or absent secret becomes a blank one, for which the configuration store keeps the stored one. */
function destinationFromWire(sent: Members): Members {
  const { id, url, headers, ...others } = knownMembers(sent, destinationShape);
  const isWebhook = others.provider === 'webhook';
  return {
    ...others,
    id: id ?? newId(),
    url: typeof url === 'string' ? url.trim() : (url ?? ''),
    headers: isWebhook ? (headers ?? {}) : {},
  };
}

const destinationShape = notificationsSection.shape.destinations.unwrap().element.shape;

function knownMembers(sent: Members, shape: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(sent).filter(([key, value]) => Object.hasOwn(shape, key) && value !== undefined),
  );
}

/**
 * The destination with its names of processes checked: throws a Problem 400 for one that is not enabled. When the shown
 * names were not changed, the stored ones stay, including those that were not shown.
 */
function withNames(
  destination: DestinationSettings,
  stored: NotificationSettings,
  enabled: ReadonlySet<string>,
): DestinationSettings {
  const names = [...new Set(destination.service_names.map(name => name.trim()))].sort();
  const types = [...new Set(destination.event_types)];
  const earlier = stored.destinations.find(({ id }) => id === destination.id);
  if (earlier !== undefined && JSON.stringify(shownNames(earlier, enabled)) === JSON.stringify(names))
    return { ...destination, event_types: types, service_names: earlier.service_names };
  const unknown = names.filter(name => !enabled.has(name));
  if (unknown.length > 0) {
    const list = unknown.map(name => `'${name}'`).join(', ');
    throw new Problem(400, `These services are unknown or not enabled: ${list}. Choose enabled services alone.`);
  }
  return { ...destination, event_types: types, service_names: names };
}
