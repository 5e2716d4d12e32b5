// Evidence from the configuration: the blocks of services, without secrets.
import type { Host } from '#core';
import type { Evidence, EvidenceRequest } from '../contract.ts';

export async function collectConfig(host: Host, { scope, targets }: EvidenceRequest): Promise<Evidence | undefined> {
  const store = host.use('config.store');
  const configs = targets
    .filter(({ enabled }) => scope === 'service' || enabled)
    .map(({ processName, path }) => [processName, store.masked(path)] as const);
  if (scope === 'stack') return { members: { service_configs: Object.fromEntries(configs) } };
  const [first] = configs;
  return first && { members: { service_config: first[1] }, coverage: { config: true } };
}
