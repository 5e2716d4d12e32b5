// The version of the program that a process runs, as its installation or itself tells.
import type { Host } from '#core';
import type {} from '../installs/contract.ts';
import type {} from '../versions/contract.ts';

/** null where it cannot be told. What nobody has looked at yet is looked at. */
export async function presentVersion(host: Host, processName: string): Promise<string | null> {
  const installed = await host.use('installs').installed(processName);
  const known = installed?.version ?? knownVersion(host, processName);
  if (known !== null) return known;
  const versions = host.find('service.versions');
  // A failure was counted and told where it happened.
  return (await versions?.refresh(processName).catch(() => null)) ?? null;
}

/** What is known without looking. */
export function knownVersion(host: Host, processName: string): string | null {
  return host.find('service.versions')?.of(processName) ?? null;
}
