// Decypharr as a download client: one for torrents, and one for Usenet where it has providers of it. Ports, logins and
// categories as its documentation has them.
import type { NamedBlock } from '#core';
import type { ServiceFileAccess } from '../config-files/contract.ts';
import type { ArrClient, ArrInstance } from '../service-arr/contract.ts';

/** It knows a manager by address and key, sent as a login. */
export async function clientsOf(
  manager: ArrInstance,
  service: NamedBlock,
  files: ServiceFileAccess | undefined,
): Promise<ArrClient[]> {
  const { port } = service.block;
  if (!Number.isInteger(port)) return [];
  const category = `${manager.kind}:${manager.name}`;
  const torrents: ArrClient = {
    name: 'decypharr',
    implementation: 'QBittorrent',
    fields: { port, username: manager.address, password: manager.apiKey },
    category,
  };
  const apiKey = await usenetKey(service, files);
  if (apiKey === undefined) return [torrents];
  const fields = { port, urlBase: '/sabnzbd', apiKey };
  return [torrents, { name: 'decypharr-usenet', implementation: 'Sabnzbd', fields, category }];
}

/** Its key for the SABnzbd side, when it has providers of Usenet at all. */
async function usenetKey(service: NamedBlock, files: ServiceFileAccess | undefined): Promise<string | undefined> {
  const settings = await files?.values(service).catch(() => undefined);
  const providers = (settings?.usenet as { providers?: unknown } | undefined)?.providers;
  if (!Array.isArray(providers) || providers.length === 0) return undefined;
  const login = `${service.block.config_dir}/auth.json`;
  const { api_token: token } = (await files?.values(service, login).catch(() => undefined)) ?? {};
  return typeof token === 'string' && token !== '' ? token : undefined;
}
