// Requests a restart of services that use more memory than their `memory_restart` allows.
import type { Host, NamedBlock } from '#core';
import type {} from '../auto-restart/contract.ts';
import type {} from '../process/contract.ts';
import { processesOf, residentBytes } from './process-tree.ts';
import { bytesOf, type LimitKeys } from './settings.ts';

const INTERVAL_MS = 10_000;
const MIB = 2 ** 20;

export function watchMemory(host: Host): void {
  host.every(host.paced(INTERVAL_MS), async () => {
    for (const block of host.find('process.supervisor')?.blocks() ?? []) await look(host, block);
  });
}

async function look(host: Host, { processName, block }: NamedBlock): Promise<void> {
  const { memory_restart: limit } = block as LimitKeys;
  if (limit === undefined) return;
  const process = host.find('process.supervisor')?.get(processName);
  if (process?.status !== 'running' || process.pid === null) return;
  const bytes = await residentBytes(await processesOf(process.pid));
  if (bytes <= bytesOf(limit)) return;
  const reason = `it takes ${Math.round(bytes / MIB)} MiB of memory, more than its memory_restart of ${limit}`;
  const restarts = host.find('process.restarts');
  if (restarts === undefined)
    host.log.warn(`${processName} is not restarted without the plugin auto-restart: ${reason}`);
  else restarts.restart(processName, reason);
}
