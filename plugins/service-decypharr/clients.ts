// Decypharr as download clients: one for torrents, and one for Usenet if Usenet providers are configured. Source of
// ports, credentials and categories: its documentation.
import type { NamedBlock } from '#core';
import type { ServiceFileAccess } from '../config-files/contract.ts';
import type { ArrClient, ArrInstance } from '../service-arr/contract.ts';

/** Decypharr identifies a manager by address and API key, which are sent as user name and password. */
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

/** The key of Decypharr's SABnzbd API; undefined when no Usenet provider is configured. */
async function usenetKey(service: NamedBlock, files: ServiceFileAccess | undefined): Promise<string | undefined> {
  const settings = await files?.values(service).catch(() => undefined);
  const providers = (settings?.usenet as { providers?: unknown } | undefined)?.providers;
  if (!Array.isArray(providers) || providers.length === 0) return undefined;
  const login = `${service.block.config_dir}/auth.json`;
  const { api_token: token } = (await files?.values(service, login).catch(() => undefined)) ?? {};
  return typeof token === 'string' && token !== '' ? token : undefined;
}
