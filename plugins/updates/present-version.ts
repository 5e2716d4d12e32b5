// The version of the program that a process runs, as its installation or itself tells.
import type { Host } from '#core';
import type {} from '../installs/contract.ts';
import type {} from '../versions/contract.ts';

/** null while it is unknown. */
export async function presentVersion(host: Host, processName: string): Promise<string | null> {
  const installed = await host.use('installs').installed(processName);
  return installed?.version ?? knownVersion(host, processName);
}

/** What is known without looking. */
export function knownVersion(host: Host, processName: string): string | null {
  return host.find('service.versions')?.of(processName) ?? null;
}
