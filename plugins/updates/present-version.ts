// The version of the program that a process runs, from the record of its installation or from the program itself.
import type { Host } from '#core';
import type {} from '../installs/contract.ts';
import type {} from '../versions/contract.ts';

/** null when the version cannot be found out. A version that is not known yet is asked for. */
export async function presentVersion(host: Host, processName: string): Promise<string | null> {
  const installed = await host.use('installs').installed(processName);
  const known = installed?.version ?? knownVersion(host, processName);
  return known ?? foundVersion(host, processName);
}

/** Looks the version up now; null when it cannot be found out. */
export async function foundVersion(host: Host, processName: string): Promise<string | null> {
  const versions = host.find('service.versions');
  // The host has already counted and logged the failure.
  return (await versions?.refresh(processName).catch(() => null)) ?? null;
}

/** The version if it is known already; null otherwise. */
export function knownVersion(host: Host, processName: string): string | null {
  return host.find('service.versions')?.of(processName) ?? null;
}
