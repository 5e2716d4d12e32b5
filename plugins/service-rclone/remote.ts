// Determines the remote that an instance mounts: the files of a service of the stack, or of a debrid provider.
import { type ConfigStore, type NamedBlock, Problem } from '#core';
import type { ServiceTemplate, ServiceTemplates } from '../services/contract.ts';

type Block = NamedBlock['block'];
type Serves = NonNullable<ServiceTemplate['serves']>;

export interface Remote {
  readonly type: 'webdav' | 'ftp';
  /** Set for WebDAV. */
  readonly url?: string;
  /** Set for FTP. */
  readonly host?: string;
  readonly user: string;
  /** In plain text. */
  readonly password: string;
  /** Facts about the service of the stack that serves the files. */
  readonly source?: Serves;
}

/** Addresses are those in the documentation of the providers. */
const PROVIDERS: Readonly<Record<string, (block: Block) => Remote>> = {
  realdebrid: block => direct({ url: 'https://dav.real-debrid.com/' }, block.username, block.password),
  alldebrid: block => direct({ url: 'https://webdav.debrid.it/' }, block.api_key, ''),
  premiumize: block => direct({ url: 'https://webdav.premiumize.me' }, block.customer_id, block.api_key),
  torbox: block => direct({ url: 'https://webdav.torbox.app' }, block.username, block.password),
  torboxftp: block => ({ ...direct({ host: 'ftp.torbox.app' }, block.username, block.password), type: 'ftp' }),
};

/** The remote of a mount. Throws a Problem 400 that names the missing or wrong option. */
export function remoteOf(mount: NamedBlock, store: ConfigStore, templates: ServiceTemplates | undefined): Remote {
  const { block, processName } = mount;
  const kind = String(block.key_type ?? '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '');
  const source = sourceOf(mount, kind, templates);
  if (source !== undefined) return served(source, mount, store);
  const provider = Object.hasOwn(PROVIDERS, kind) ? PROVIDERS[kind] : undefined;
  if (provider === undefined)
    throw new Problem(400, `${processName} cannot start: key_type '${block.key_type}' names no remote`);
  const remote = provider(block);
  if (remote.user === '' || (remote.password === '' && kind !== 'alldebrid'))
    throw new Problem(400, `${processName} cannot start: the credentials of ${block.key_type} are not set`);
  return remote;
}

/** A switch in the mount's block takes precedence over its kind, and both over the core service to which it belongs. */
function sourceOf(
  { block, processName }: NamedBlock,
  kind: string,
  templates: ServiceTemplates | undefined,
): ServiceTemplate | undefined {
  const sources = templates?.list().filter(({ serves }) => serves !== undefined) ?? [];
  const isOn = ({ serves }: ServiceTemplate) => serves?.switch !== undefined && block[serves.switch] === true;
  const [switched, other] = sources.filter(isOn);
  if (other !== undefined)
    throw new Problem(
      400,
      `${processName} cannot start: ${switched?.serves?.switch} and ${other.serves?.switch} exclude each other`,
    );
  const links = templates?.linksOf(block) ?? [];
  return (
    switched ??
    sources.find(({ key, aliases = [], serves }) => serves?.byKind === true && [key, ...aliases].includes(kind)) ??
    sources.find(({ key, serves }) => serves?.byLink === true && links.includes(key))
  );
}

/** The remote of a service. Of a service with instances, the instance with the name of the mount serves it. */
function served(
  { key, instance, serves, block: defaults }: ServiceTemplate,
  mount: NamedBlock,
  store: ConfigStore,
): Remote {
  const block = (store.get(instance === undefined ? key : [key, 'instances', mount.key]) ?? {}) as Block;
  const fill = (text = ''): string =>
    text.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => String(block[name] ?? defaults[name] ?? ''));
  const remote = direct({ url: fill(serves?.url) }, fill(serves?.user), fill(serves?.password));
  return serves === undefined ? remote : { ...remote, source: serves };
}

function direct(place: { url?: string; host?: string }, user: unknown, password: unknown): Remote {
  return { type: 'webdav', ...place, user: String(user ?? ''), password: String(password ?? '') };
}
