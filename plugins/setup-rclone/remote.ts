// Which remote an rclone instance mounts: that of a service of the stack, or a provider's own.
import { type ConfigStore, type NamedBlock, Problem } from '#core';

type Block = NamedBlock['block'];

export interface Remote {
  readonly type: 'webdav' | 'ftp';
  /** For webdav. */
  readonly url?: string;
  /** For ftp. */
  readonly host?: string;
  readonly user: string;
  /** In clear. */
  readonly password: string;
  /** The service of the stack that serves it. */
  readonly service?: 'decypharr' | 'infinidysk' | 'zurg';
}

/** Addresses: documentation of the providers. */
const PROVIDERS: Readonly<Record<string, (block: Block) => Remote>> = {
  realdebrid: block => direct({ url: 'https://dav.real-debrid.com/' }, block.username, block.password),
  alldebrid: block => direct({ url: 'https://webdav.debrid.it/' }, block.api_key, ''),
  premiumize: block => direct({ url: 'https://webdav.premiumize.me' }, block.customer_id, block.api_key),
  torbox: block => direct({ url: 'https://webdav.torbox.app' }, block.username, block.password),
  torboxftp: block => ({ ...direct({ host: 'ftp.torbox.app' }, block.username, block.password), type: 'ftp' }),
};

/** Throws a Problem 400 that names what is not set. */
export function remoteOf({ block, key, processName }: NamedBlock, store: ConfigStore): Remote {
  const kind = String(block.key_type ?? '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '');
  const links = String(block.core_service ?? '').toLowerCase();
  if (block.zurg_enabled === true && block.decypharr_enabled === true)
    throw new Problem(400, `${processName}: zurg_enabled and decypharr_enabled exclude each other`);
  if (block.zurg_enabled === true) {
    const zurg = (store.get(['zurg', 'instances', key]) ?? {}) as Block;
    return local('zurg', `http://127.0.0.1:${zurg.port ?? 9_090}/dav`, zurg.user, zurg.password);
  }
  if (block.decypharr_enabled === true || kind === 'decypharr')
    return local('decypharr', `http://127.0.0.1:${store.get('decypharr.port') ?? 8_282}/webdav`, '', '');
  if (kind === 'infinidysk' || links.includes('infinidysk')) {
    const port = store.get('infinidysk.backend_port') ?? 8_080;
    return local('infinidysk', `http://127.0.0.1:${port}/`, 'admin', store.get('infinidysk.webdav_password'));
  }
  const provider = PROVIDERS[kind];
  if (provider === undefined) throw new Problem(400, `${processName}: key_type '${block.key_type}' names no remote`);
  const remote = provider(block);
  if (remote.user === '' || (remote.password === '' && kind !== 'alldebrid'))
    throw new Problem(400, `${processName}: the credentials of ${block.key_type} are not set`);
  return remote;
}

function local(service: Remote['service'] & string, url: string, user: unknown, password: unknown): Remote {
  return { type: 'webdav', url, user: String(user ?? ''), password: String(password ?? ''), service };
}

function direct(place: { url?: string; host?: string }, user: unknown, password: unknown): Remote {
  return { type: 'webdav', ...place, user: String(user ?? ''), password: String(password ?? '') };
}
