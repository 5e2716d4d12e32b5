// The members that other plugins add to a sample. All collectors run at once; one that fails or is late gives null.
import type { Host } from '#core';
import type { CollectedMembers, CollectedProcess, MetricsCollector } from './contract.ts';

export async function collect(host: Host, processes: readonly CollectedProcess[]): Promise<CollectedMembers> {
  const sample: Record<string, unknown> = {};
  const system: Record<string, unknown> = {};
  const managed = new Map<string, Record<string, unknown>>();
  await Promise.all(
    [...host.contributions('metrics.collector')].map(async ({ key, value: collector }) => {
      const value = await collected(collector, processes);
      if (collector.place === 'sample') sample[key] = value;
      else if (collector.place === 'system') system[key] = value;
      else
        for (const { processName } of processes) {
          const members = managed.get(processName) ?? {};
          members[key] = ownOf(value, processName);
          managed.set(processName, members);
        }
    }),
  );
  return { sample, system, managed };
}

async function collected(collector: MetricsCollector, processes: readonly CollectedProcess[]): Promise<unknown> {
  try {
    return (await collector.collect(processes)) ?? null;
  } catch {
    // The host has already counted and logged the failure.
    return null;
  }
}

function ownOf(values: unknown, key: string): unknown {
  if (typeof values !== 'object' || values === null || !Object.hasOwn(values, key)) return null;
  return (values as Record<string, unknown>)[key];
}
