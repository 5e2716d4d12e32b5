// The mounts of managed services that are not mounted at present. Files below such a mount count as unknown, not as
// missing.
import type { Host } from '#core';
import { readMounts } from '#kit/mountinfo';
import type {} from '../../process/contract.ts';
import type {} from '../../services/contract.ts';

export interface MountDown {
  readonly directory: string;
  /** The process of the service whose mount it is. */
  readonly processName: string;
  /** A sentence for people. */
  readonly reason: string;
}

export async function mountsDown(host: Host): Promise<MountDown[]> {
  const templates = host.find('service.templates');
  const supervisor = host.find('process.supervisor');
  if (templates === undefined || supervisor === undefined) return [];
  const mounted = new Set((await readMounts()).map(({ directory }) => directory));
  return supervisor.blocks().flatMap(block => {
    const directory = templates.mountOf(block);
    if (directory === undefined || block.block.enabled !== true || mounted.has(directory)) return [];
    const { processName } = block;
    const status = supervisor.get(processName)?.status ?? 'unknown';
    const reason = `${directory} is the mount of ${processName}, which is ${status}, and is not mounted; see to ${processName} first.`;
    return [{ directory, processName, reason }];
  });
}
