// The download services as clients of a media manager. Port, login and category of each as its documentation has them.
import type { Host, NamedBlock } from '#core';
import type { ArrEntry, ArrInstance } from '../arr/contract.ts';
import type {} from '../config-files/contract.ts';

const HOST = '127.0.0.1';
/** AltMount's own categories. */
const ALTMOUNT_CATEGORIES: Readonly<Record<string, string>> = {
  radarr: 'movies',
  sonarr: 'tv',
  lidarr: 'music',
  whisparr: 'adult',
};

/** None for a service that does not have what a client needs. */
export async function clientsOf(manager: ArrInstance, provider: NamedBlock, host: Host): Promise<ArrEntry[]> {
  const { block } = provider;
  if (!Number.isInteger(block[provider.configKey === 'infinidysk' ? 'backend_port' : 'port'])) return [];
  const env = (block.env ?? {}) as Record<string, unknown>;
  switch (provider.configKey) {
    case 'decypharr': {
      const category = `${manager.kind}:${manager.name}`;
      const login = { username: manager.address, password: manager.apiKey };
      const torrents = client('decypharr', 'QBittorrent', { port: block.port, ...login }, category);
      const apiKey = await usenetKey(provider, host);
      const usenet = { port: block.port, urlBase: '/sabnzbd', apiKey };
      return apiKey === undefined ? [torrents] : [torrents, client('decypharr-usenet', 'Sabnzbd', usenet, category)];
    }
    case 'infinidysk': {
      const fields = { port: block.backend_port, urlBase: '', apiKey: env.FRONTEND_BACKEND_API_KEY };
      return withKey(client('InfiniDysk', 'Sabnzbd', fields, host.use('arr.applications').slugOf(manager.block)));
    }
    case 'altmount': {
      const fields = { port: block.port, urlBase: '/sabnzbd', apiKey: env.ALTMOUNT_API_KEY };
      return withKey(client('altmount', 'Sabnzbd', fields, ALTMOUNT_CATEGORIES[manager.kind] ?? ''));
    }
    default:
      return [];
  }
}

/** Each kind of manager has another name for the category. */
function client(name: string, implementation: string, fields: Record<string, unknown>, category: string): ArrEntry {
  return {
    list: 'downloadclient',
    name,
    implementation,
    fields: { host: HOST, ...fields, tvCategory: category, movieCategory: category, musicCategory: category },
    address: ['host', 'port', 'urlBase'],
    initial: { enable: true },
  };
}

function withKey(entry: ArrEntry): ArrEntry[] {
  const { apiKey } = entry.fields;
  return typeof apiKey === 'string' && apiKey !== '' ? [entry] : [];
}

/** Decypharr's key for its SABnzbd side, when it has providers of Usenet at all. */
async function usenetKey(provider: NamedBlock, host: Host): Promise<string | undefined> {
  const files = host.find('config.files');
  const settings = await files?.values(provider).catch(() => undefined);
  const providers = (settings?.usenet as { providers?: unknown } | undefined)?.providers;
  if (!Array.isArray(providers) || providers.length === 0) return undefined;
  const login = `${provider.block.config_dir}/auth.json`;
  const { api_token: token } = (await files?.values(provider, login).catch(() => undefined)) ?? {};
  return typeof token === 'string' && token !== '' ? token : undefined;
}
