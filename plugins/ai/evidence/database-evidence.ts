// Evidence from database health: the pressure on the databases of a service by a present sample, without a new check.
import type { Host } from '#core';
import { isObject } from '#kit/plain-object';
import type { Evidence, EvidenceRequest } from '../contract.ts';
import { redactValue } from '../redaction/secret-value.ts';
import { presentSample } from './present-sample.ts';

export async function collectDatabaseHealth(
  host: Host,
  { targets: [target] }: EvidenceRequest,
): Promise<Evidence | undefined> {
  const health = target === undefined ? undefined : await healthOf(host, target.processName);
  if (health === undefined)
    return {
      members: { database_health: { available: false, reason: 'Nothing is known of a database of this service.' } },
    };
  return { members: { database_health: health }, coverage: { database_health: true } };
}

/** Paths are masked. undefined for a service without a monitored database. */
export async function healthOf(host: Host, processName: string): Promise<Record<string, unknown> | undefined> {
  const sample = await presentSample(host);
  const overview = sample?.collected.sample.database_health;
  const services = isObject(overview) && Array.isArray(overview.services) ? overview.services.filter(isObject) : [];
  const health = services.find(service => service.process_name === processName && service.monitoring_enabled === true);
  return health && redactValue(health, { hidePaths: true });
}
